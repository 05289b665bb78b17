"""Answers worked out in warm child processes, and remembered because people go back and forth.

    ask(payload)  ->  remembered? the same object again
                      otherwise  a child works it out, within the payload's own limits of time and memory

Previews of the Workbench are such answers, and so are lessons, and what is wrong with the settings of a study. The key
is a digest of what a child was asked, as JSON, so that a long question is not kept for its short answer.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Generic, TypeVar

from engine.errors import RelensError
from engine.language.isolation import IsolatedPool

Answer = TypeVar("Answer")

log = logging.getLogger(__name__)

#: How many answers are remembered.
REMEMBERED = 256


class WarmAnswers(Generic[Answer]):
    """Answers of one kind; safe for threads.

    target, warm_up, work: as in `IsolatedProcess`, where the last is its `subject`; the function is asked nothing, {},
    of every new child before its first job. pool_size: how many are worked out at once; one more has to wait. read: the
    answer from what a child returns. subject: what is worked out, to begin a sentence with. waits: whether the children
    are started with the first question, and not at once. call: what computes in place of a pool.
    """

    def __init__(
        self,
        target: str,
        pool_size: int,
        *,
        warm_up: str,
        read: Callable[[Mapping[str, Any]], Answer],
        subject: str,
        work: str = "Compiling",
        waits: bool = False,
        call: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None,
    ) -> None:
        self._new_pool = partial(IsolatedPool, target, pool_size, spare=True, warm_up=warm_up, subject=work)
        self._pool = self._new_pool() if call is None and not waits else None
        self._closed = False
        self._call = call or self._call_pool
        self._read = read
        self._subject = subject
        self._remembered: OrderedDict[bytes, Answer] = OrderedDict()
        self._mutex = threading.Lock()

    def ask(self, payload: dict[str, Any], *, changes: bool = False) -> Answer:
        """The answer; `payload["limits"]` is the JSON of `Limits`. Raises what the function in the child raises, and
        `LimitError` for what takes more time or memory than the limits allow.

        changes: whether the same question may have another answer tomorrow, so that none is remembered.
        """
        if changes:
            return self._read(self._call(payload))
        key = hashlib.sha256(json.dumps(payload).encode()).digest()
        with self._mutex:
            if key in self._remembered:
                self._remembered.move_to_end(key)
                return self._remembered[key]
        answer = self._read(self._call(payload))
        with self._mutex:
            self._remembered[key] = answer
            if len(self._remembered) > REMEMBERED:
                self._remembered.popitem(last=False)
        return answer

    def close(self) -> None:
        """End the child processes; none is started any more."""
        with self._mutex:
            self._closed = True
        if self._pool is not None:
            self._pool.close()

    def _call_pool(self, payload: dict[str, Any]) -> Mapping[str, Any]:
        with self._mutex:
            if self._pool is None and not self._closed:
                self._pool = self._new_pool()
            pool = self._pool
        limits = payload["limits"]
        try:
            if pool is None:
                raise RuntimeError("The pool of warm processes is closed.")
            return pool.call(payload, limits["compile_seconds"], limits["compile_bytes"])
        except RuntimeError as error:  # a bug, told with its traceback: for the log, not for the page
            log.error("%s", error)
            raise RelensError(f"{self._subject} failed inside Relens; the log has the particulars.") from error
