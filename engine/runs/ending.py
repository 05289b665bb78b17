"""The end of a worker, which comes even where the worker itself cannot see to it.

    its parent is gone, or somebody sends SIGTERM
        0 s     it is asked to end: it leaves its run after the present batch, writes that down, and returns
        8 s     it has not returned (a stuck call, a store that does not answer): its children and it are ended

A thread of its own looks after the parent from the first moment on: a worker may wait for a store that is damaged, or
be inside one long call, and would notice nothing.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable

from engine.language.child import kill_children

LOOK_SECONDS = 0.25
#: How long a worker may take for an orderly end.
GRACE_SECONDS = 8.0

log = logging.getLogger(__name__)


class Ending(threading.Thread):
    """Sees to the end of this process. is_due: whether it has come; ask: what makes the process end by itself.

    end_hard: what is done once `GRACE_SECONDS` have passed since, unless `close` came first.
    """

    def __init__(
        self, is_due: Callable[[], bool], ask: Callable[[], None], end_hard: Callable[[], None] | None = None
    ) -> None:
        super().__init__(name="ending", daemon=True)
        self._is_due = is_due
        self._ask = ask
        self._end_hard = end_hard or _end_this_process
        self._wanted = threading.Event()
        self._over = threading.Event()

    def begin(self) -> None:
        """The end has come; returns at once, so that a signal handler may call it."""
        self._wanted.set()
        self._ask()

    def close(self) -> None:
        """The process ends by itself now."""
        self._over.set()

    def run(self) -> None:
        """The thread's own loop."""
        while not self._wanted.is_set():
            if self._over.wait(LOOK_SECONDS):
                return
            if self._is_due():
                self.begin()
        if not self._over.wait(GRACE_SECONDS):
            log.warning("The worker did not end in %g s and is ended now.", GRACE_SECONDS)
            self._end_hard()


def _end_this_process() -> None:
    kill_children()
    logging.shutdown()
    os._exit(1)
