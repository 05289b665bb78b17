"""Answers worked out in warm child processes, and remembered because people go back and forth.

    ask(payload)  ->  remembered? the same object again
                      otherwise  a child works it out, within the payload's own limits of time and memory

Previews of the Workbench are such answers, and so are lessons. What a child was asked, as JSON, is the key.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from engine.errors import RelensError
from engine.runs.warm_pool import WarmPool

Answer = TypeVar("Answer")

log = logging.getLogger(__name__)

#: How many answers are remembered.
REMEMBERED = 256


class WarmAnswers(Generic[Answer]):
    """Answers of one kind; safe for threads.

    target, warm_up: as in `IsolatedProcess`; the function is asked nothing, {}, of every new child before its first
    job. pool_size: how many are worked out at once; one more has to wait. read: the answer from what a child returns.
    subject: what is worked out, to begin a sentence with. call: what computes in place of a pool.
    """

    def __init__(
        self,
        target: str,
        pool_size: int,
        *,
        warm_up: str,
        read: Callable[[Mapping[str, Any]], Answer],
        subject: str,
        call: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None,
    ) -> None:
        self._pool = WarmPool(target, pool_size, easy={}, warm_up=warm_up) if call is None else None
        self._call = call or self._call_pool
        self._read = read
        self._subject = subject
        self._remembered: OrderedDict[str, Answer] = OrderedDict()
        self._mutex = threading.Lock()

    def ask(self, payload: dict[str, Any]) -> Answer:
        """The answer; `payload["limits"]` is the JSON of `Limits`. Raises what the function in the child raises, and
        `LimitError` for what takes more time or memory than the limits allow.
        """
        key = json.dumps(payload)
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
        """End the child processes."""
        if self._pool is not None:
            self._pool.close()

    def _call_pool(self, payload: dict[str, Any]) -> Mapping[str, Any]:
        assert self._pool is not None
        limits = payload["limits"]
        try:
            return self._pool.call(payload, limits["compile_seconds"], limits["compile_bytes"])
        except RuntimeError as error:  # a bug, told with its traceback: for the log, not for the page
            log.error("%s", error)
            raise RelensError(f"{self._subject} failed inside Relens; the log has the particulars.") from error
