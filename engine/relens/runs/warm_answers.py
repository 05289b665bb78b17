"""Answers computed in warm child processes, and remembered because people go back and forth.

    class Lessons(WarmAnswers[Lesson]):                 in a child:
        job = "relens.learn.jobs:lesson_job"                lesson_job({"pattern": "a|b", ..., "limits": {...}})
        record = Lesson                                     {"answer": Lesson as JSON}

    ask({"pattern": "a|b", ...}, limits)    remembered? the same object again
                                            otherwise a child computes it, within these limits of time and memory

Previews of the Workbench are such answers, and so are lessons and the checks of a study's settings. The key is a digest
of the payload as JSON, so that a long payload is not kept for its short answer.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, TypeVar, cast

from relens.errors import RelensError
from relens.language.isolation import IsolatedPool
from relens.query import Limits
from relens.record import Record

Answer = TypeVar("Answer", bound=Record)

log = logging.getLogger(__name__)

#: How many answers are remembered.
REMEMBERED = 256


class WarmAnswers(Generic[Answer]):
    """Answers of one kind; safe for threads. A subclass names the job and makes its payload.

    job, warm_up: "module:function", as in `IsolatedProcess`; the job returns {"answer": JSON of a `record`}. subject
    ("The lesson") and work ("Compiling") begin the sentences of errors.
    """

    job: ClassVar[str]
    warm_up: ClassVar[str]
    record: ClassVar[type[Record]]
    subject: ClassVar[str]
    work: ClassVar[str] = "Compiling"

    def __init__(self, pool_size: int = 1, call: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None) -> None:
        """pool_size: how many answers are computed at once; the first one starts the children. call: computes in place
        of a pool.
        """
        self._pool_size = pool_size
        self._pool: IsolatedPool | None = None
        self._closed = False
        self._call = call
        self._remembered: OrderedDict[bytes, Answer] = OrderedDict()
        self._mutex = threading.Lock()

    def ask(self, payload: Mapping[str, Any], limits: Limits, *, changes: bool = False) -> Answer:
        """The answer. Raises the errors of the job, and `LimitError` where it takes more time or memory than allowed.

        changes: whether the same payload may have another answer later; then none is remembered.
        """
        sent = {**payload, "limits": limits.to_json()}
        if changes:
            return self._answer(sent, limits)
        key = hashlib.sha256(json.dumps(sent).encode()).digest()
        with self._mutex:
            if key in self._remembered:
                self._remembered.move_to_end(key)
                return self._remembered[key]
        answer = self._answer(sent, limits)
        with self._mutex:
            self._remembered[key] = answer
            if len(self._remembered) > REMEMBERED:
                self._remembered.popitem(last=False)
        return answer

    def close(self) -> None:
        """End the child processes for good."""
        with self._mutex:
            self._closed = True
        if self._pool is not None:
            self._pool.close()

    def _answer(self, sent: dict[str, Any], limits: Limits) -> Answer:
        reply = self._call_pool(sent, limits) if self._call is None else self._call(sent)
        return cast(Answer, self.record.from_json(reply["answer"]))

    def _call_pool(self, sent: dict[str, Any], limits: Limits) -> Mapping[str, Any]:
        with self._mutex:
            if self._pool is None and not self._closed:
                self._pool = IsolatedPool(
                    self.job, self._pool_size, spare=True, warm_up=self.warm_up, subject=self.work
                )
            pool = self._pool
        try:
            if pool is None:
                raise RuntimeError("The pool of child processes is closed.")
            return pool.call(sent, limits.compile_seconds, limits.compile_bytes)
        except RuntimeError as error:  # a bug, with its traceback: for the log, not for the page
            log.error("%s", error)
            raise RelensError(f"{self.subject} failed inside Relens; the log has the particulars.") from error
