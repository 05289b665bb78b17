"""Which workers live, as one observer sees it.

    worker of this machine       lives as long as its process
    worker of another machine    lives as long as its heartbeat changes:
                                 looked at    10:00:00   10:00:20   10:00:31
                                 heartbeat    09:12:07   09:12:27   09:12:27 ...    unchanged for 30 s: dead

The clocks of two machines differ, and a clock that is set jumps. So no heartbeat is compared with a clock: a worker is
dead when its heartbeat has been the same for 30 seconds of the observer's own monotonic time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from relens.runs.processes import ProcessMark

#: A worker of another machine counts as dead after this many seconds of silence. It reports every second, but the
#: operating system may hold it up while a large model is read from a slow disk.
STALE_SECONDS = 30.0


class Leases:
    """One observer's view of the workers of a store; safe for threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._mutex = threading.Lock()
        #: Of each worker the latest heartbeat, and when it was first seen.
        self._seen: dict[str, tuple[float, float]] = {}

    def silence(self, worker_id: str, heartbeat: float) -> float:
        """For how many seconds this observer has seen the same heartbeat; 0 the first time."""
        now = self._clock()
        with self._mutex:
            before = self._seen.get(worker_id)
            if before is None or before[0] != heartbeat:
                self._seen[worker_id] = (heartbeat, now)
                return 0.0
            return now - before[1]

    def lives(self, worker_id: str, state: str, heartbeat: float, mark: ProcessMark) -> bool:
        """Whether a worker with this report is alive, as far as this observer knows."""
        silence = self.silence(worker_id, heartbeat)
        if state == "ended" or mark.has_ended:
            return False
        return mark.is_here or silence < STALE_SECONDS

    def forget(self, worker_ids: list[str]) -> None:
        """Drop these workers."""
        with self._mutex:
            for worker_id in worker_ids:
                self._seen.pop(worker_id, None)
