"""Work that is done only while somebody asks for its results, one by one or for a stretch of time.

    for match in run: ...          each result as it comes
    run.poll(0.2)                  work for about 0.2 s, then whatever was found: [match, match]

The second is what a worker wants, which also has to report and to look whether it should stop. Where the work fails,
what was found before is given first, and the error is raised when more is asked for.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Polled(ABC, Generic[Result]):
    """A run that gives results. Its `_advance` puts them into `_ready`, and sets `_ended` to why no more will come."""

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
        """Work for about `seconds`, a forward at the least, and return what was found meanwhile, possibly nothing.

        A time limit or a stop that comes up is noticed between two forwards.
        """
        until = time.perf_counter() + seconds
        while not self._ended:
            self._work()
            if self._error is not None or time.perf_counter() >= until:
                break
        ready, self._ready = self._ready, []
        return ready

    def _work(self) -> None:
        """Advance, with an error kept until what was found before it has been taken."""
        if self._error is None:
            try:
                self._advance()
            except BaseException as error:  # an interrupt too must not take results away
                self._error = error
        if self._error is not None and not self._ready:
            raise self._error

    @abstractmethod
    def _advance(self) -> None:
        """Some work: at most a forward."""
