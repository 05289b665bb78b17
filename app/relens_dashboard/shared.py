"""One object of this process for all browser sessions: made at the first call, and never twice.

    @shared
    def get_services() -> Services: ...

    get_services()              the first caller makes it; others wait for it
    get_services()              the same object, for every session, as long as the process lives
    get_services.replace(made)  another object in its place, and the old one is closed: for tests

`st.cache_resource` is no such place. Any browser can send a message that empties it; child processes, threads and
connections of the lost objects live on, and the next page makes them once more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    """An owner of processes, threads or connections."""

    def close(self) -> None:
        """End them."""


T = TypeVar("T", bound=Closable)


class Shared(Generic[T]):
    """The result of `make`, made once; safe for threads. After an error of `make`, the next call tries again."""

    def __init__(self, make: Callable[[], T]) -> None:
        self.__doc__ = make.__doc__
        self._make = make
        self._mutex = threading.Lock()
        self._made: T | None = None

    def __call__(self) -> T:
        """The object."""
        with self._mutex:
            if self._made is None:
                self._made = self._make()
            return self._made

    def replace(self, made: T | None = None) -> None:
        """Put `made` in its place, or let the next call make another; close the old one."""
        with self._mutex:
            replaced, self._made = self._made, made
        if replaced is not None and replaced is not made:
            replaced.close()


def shared(make: Callable[[], T]) -> Shared[T]:
    """A function without arguments whose first result serves all later calls; see the module."""
    return Shared(make)
