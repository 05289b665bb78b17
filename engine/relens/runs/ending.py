"""The end of a worker, also of one that is stuck.

    its parent is gone, or SIGTERM comes
        0 s     a request to end: the worker leaves its run after the present batch, marks it, and returns
        8 s     the worker has not returned (a stuck call, a store that does not answer): it is killed with its children

A thread of its own watches the parent from the start: a worker may wait for a damaged store, or be inside one long
call, and would notice nothing.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable

from relens.language.child import kill_children

LOOK_SECONDS = 0.25
#: How long a worker may take for an orderly end.
GRACE_SECONDS = 8.0

log = logging.getLogger(__name__)


class Ending(threading.Thread):
    """Ends this process. is_due: whether it is time; ask: requests an orderly end.

    end_hard: called `GRACE_SECONDS` later, unless `close` came first.
    """

    def __init__(
        self, is_due: Callable[[], bool], ask: Callable[[], None], end_hard: Callable[[], None] | None = None
    ) -> None:
        super().__init__(name="ending", daemon=True)
        self._is_due = is_due
        self._ask = ask
        self._end_hard = end_hard or _end_this_process
        self._has_begun = threading.Event()
        self._over = threading.Event()

    def begin(self) -> None:
        """The end has come; returns at once, so that a signal handler may call it."""
        self._has_begun.set()
        self._ask()

    def close(self) -> None:
        """The process ends by itself now."""
        self._over.set()

    def run(self) -> None:
        """The thread's own loop."""
        while not self._has_begun.is_set():
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
