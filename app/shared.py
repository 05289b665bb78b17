"""One object of this process for all browser sessions: made when it is first wanted, and never made twice.

    @shared
    def get_services() -> Services: ...

    get_services()              the first caller makes it; who comes meanwhile waits for it
    get_services()              the same object, for every session, as long as the process lives
    get_services.replace(made)  another in its place, and the one that was there is closed: for tests

`st.cache_resource` is no such place. Any browser can send a message that empties it, and what was in it goes on: its
child processes, its threads and its connections stay, and the next page makes them once more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    """What owns processes, threads or connections, and can end them."""

    def close(self) -> None:
        """End them."""


T = TypeVar("T", bound=Closable)


class Shared(Generic[T]):
    """What `make` makes, once; safe for threads. Where it raises, so does the call, and the next one tries again."""

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
        """Have `made` in its place, or, without it, whatever the next call makes; close the one that was there."""
        with self._mutex:
            replaced, self._made = self._made, made
        if replaced is not None and replaced is not made:
            replaced.close()


def shared(make: Callable[[], T]) -> Shared[T]:
    """A function without arguments whose first result serves all later calls; see the module."""
    return Shared(make)
