"""Which workers live, as somebody finds who looks again and again.

    worker of this machine       lives as long as its process
    worker of another machine    lives as long as its heartbeat changes:
                                 looked at    10:00:00   10:00:20   10:00:31
                                 heartbeat    09:12:07   09:12:27   09:12:27 ...    unchanged for 30 s: dead

Two machines' clocks differ, and one that is set jumps. So a heartbeat is not held against a clock: what counts is for
how long it has been the same, by the observer's own count of seconds, which nobody sets.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from engine.runs.processes import ProcessMark

#: A worker of another machine that has not reported for this long is given up, in seconds. It reports every second, but
#: the operating system may hold it up while a large model is read from a slow disk.
STALE_SECONDS = 30.0


class Leases:
    """What one observer knows of the workers of a store; safe for threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._mutex = threading.Lock()
        #: Of each worker the latest heartbeat, and when it was first seen.
        self._seen: dict[str, tuple[float, float]] = {}

    def silence(self, worker_id: str, heartbeat: float) -> float:
        """For how many seconds this observer has seen the same heartbeat; 0 at the first look."""
        now = self._clock()
        with self._mutex:
            before = self._seen.get(worker_id)
            if before is None or before[0] != heartbeat:
                self._seen[worker_id] = (heartbeat, now)
                return 0.0
            return now - before[1]

    def lives(self, worker_id: str, state: str, heartbeat: float, mark: ProcessMark) -> bool:
        """Whether a worker that reported this is alive, as far as this observer can tell."""
        silence = self.silence(worker_id, heartbeat)
        if state == "ended" or mark.has_ended:
            return False
        return mark.is_here or silence < STALE_SECONDS

    def forget(self, worker_ids: list[str]) -> None:
        """These workers are off the list."""
        with self._mutex:
            for worker_id in worker_ids:
                self._seen.pop(worker_id, None)
