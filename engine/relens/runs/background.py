"""Work that cannot be interrupted, left behind when it is no longer needed.

Reading a model from a disk, or compiling a hard expression, cannot check for a stop in between. So it runs in a thread,
and the waiting thread checks instead. After a stop the waiting ends, and the work goes on to its own end; its result
can be waited for again, or dropped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

#: How often the waiting thread checks for a stop.
LOOK_SECONDS = 0.1

Result = TypeVar("Result")


class Left(Exception):  # noqa: N818  (not an error: somebody requested it)
    """The work was left behind: its result is no longer needed."""


class Background(Generic[Result]):
    """One call of `work` in a thread of its own."""

    def __init__(self, work: Callable[[], Result]) -> None:
        self._results: list[Result] = []
        self._errors: list[BaseException] = []
        self._finished = threading.Event()
        threading.Thread(target=self._carry_out, args=(work,), name="background", daemon=True).start()

    @property
    def is_finished(self) -> bool:
        """Whether `wait` would answer at once."""
        return self._finished.is_set()

    def wait(self, should_leave: Callable[[], bool], meanwhile: Callable[[], None] = lambda: None) -> Result:
        """What the work returns or raises, unless `should_leave` says yes first: then `Left` is raised.

        `meanwhile` is called ten times a second by the thread that waits.
        """
        while not self._finished.wait(LOOK_SECONDS):
            meanwhile()
            if should_leave():
                raise Left
        if self._errors:
            raise self._errors[0]
        return self._results[0]

    def _carry_out(self, work: Callable[[], Result]) -> None:
        try:
            self._results.append(work())
        except BaseException as error:  # raised again in the waiting thread
            self._errors.append(error)
        finally:
            self._finished.set()
