"""Work on demand: results one by one, or those of a stretch of time.

    for match in run: ...          each result as it comes
    run.poll(0.2)                  work for about 0.2 s, then its results: [match, match]

A worker polls, because it also has to report and to see whether to stop. Where the work fails, earlier results come
first, and the next call raises the error.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Polled(ABC, Generic[Result]):
    """A run with results. `_advance` puts them into `_ready`; after the last it sets `_ended` to the reason."""

    def __init__(self) -> None:
        self._ready: list[Result] = []
        self._ended = ""
        self._error: BaseException | None = None

    @property
    def finished(self) -> bool:
        """Whether no more results will come."""
        return bool(self._ended) and not self._ready

    def __iter__(self) -> Iterator[Result]:
        while not self.finished:
            if self._ready:
                yield self._ready.pop(0)
            else:
                self._work()

    def poll(self, seconds: float) -> list[Result]:
        """Work for about `seconds`, at least one forward, and return the results, possibly none.

        A time limit or a stop takes effect between two forwards.
        """
        until = time.perf_counter() + seconds
        while not self._ended:
            self._work()
            if self._error is not None or time.perf_counter() >= until:
                break
        ready, self._ready = self._ready, []
        return ready

    def _work(self) -> None:
        """Advance; an error is kept until the results before it are taken."""
        if self._error is None:
            try:
                self._advance()
            except BaseException as error:  # an interrupt too must not lose results
                self._error = error
        if self._error is not None and not self._ready:
            raise self._error

    @abstractmethod
    def _advance(self) -> None:
        """Some work: at most a forward."""
