"""Work that cannot be interrupted, left behind when it is no longer wanted.

Reading a model from a disk, or compiling a hard expression, offers no place to ask "shall I stop?". So it is done in
a thread, and whoever waits for it asks instead. When the answer is yes, the waiting ends and the thread goes on to its
own end; what it makes can be waited for again, or dropped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

#: How often the one who waits looks up.
LOOK_SECONDS = 0.1

Result = TypeVar("Result")


class Left(Exception):  # noqa: N818  (not an error: somebody asked for it)
    """The work was left because nobody waits for it any more."""


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
        except BaseException as error:  # handed to the one who waits
            self._errors.append(error)
        finally:
            self._finished.set()
