"""A worker's second thread: it reports every second that the worker lives, and receives requests to stop.

The first thread may be inside a forward, a compilation or a load for seconds. This one reads the store four times a
second and sets an event, which the first thread, or its search, checks between any two steps.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

from relens.errors import StoreError
from relens.runs.complaints import Complaints
from relens.runs.device import DeviceMeter
from relens.runs.store import Store

BEAT_SECONDS = 1.0
LOOK_SECONDS = 0.25
#: How often the store is searched for runs of dead workers.
ORPHAN_SECONDS = 5.0

log = logging.getLogger(__name__)


class Pulse(threading.Thread):
    """Heartbeats of one worker, and the watch over the run that it works on.

    state, model and device describe the worker and are written with the next heartbeat. `figures` are the latest
    figures of the use of the device.
    """

    def __init__(self, store: Store, worker_id: str) -> None:
        super().__init__(name="pulse", daemon=True)
        self.state = "starting"
        self.model = ""
        self.device = ""
        self.figures: dict[str, Any] = {}
        self._store = store
        self._worker_id = worker_id
        self._meter = DeviceMeter()
        #: The run that is watched and the event for it: one value, because two threads use it.
        self._watched: tuple[str | None, threading.Event] = (None, threading.Event())
        self._closing = threading.Event()
        self._next_beat = 0.0
        self._next_orphans = 0.0
        self._complaints = Complaints(log)

    def watch(self, run_id: str | None) -> threading.Event:
        """Watch this run for a request to stop; returns the event that is set when one comes."""
        leave = threading.Event()
        self._watched = (run_id, leave)
        return leave

    def describe(self, model: str, device: str) -> None:
        """Name the model and its device from now on."""
        self.model, self.device = model, device
        self.figures = {**self.figures, "name": device}

    def beat(self) -> None:
        """Report now. Raises `StoreError`."""
        self.figures = self._meter.read(self.device)
        self._store.heartbeat(self._worker_id, self.state, self.model, self.device, self.figures)
        self._next_beat = time.monotonic() + BEAT_SECONDS

    def close(self) -> None:
        """End the thread, and wait for it."""
        self._closing.set()
        if self.is_alive():
            self.join()

    def run(self) -> None:
        """The thread's own loop: an unreachable store is tried again for as long as the worker lives."""
        while not self._closing.wait(LOOK_SECONDS):
            try:
                self._look()
            except StoreError as error:
                self._complaints.warn(error)
            except Exception:  # without a pulse the worker would be taken for dead
                log.exception("The pulse stumbled.")

    def _look(self) -> None:
        run_id, leave = self._watched
        if run_id is not None and not leave.is_set() and self._store.stop_requested(run_id):
            leave.set()
        now = time.monotonic()
        if now >= self._next_beat:
            self.beat()
        if now >= self._next_orphans:
            self._next_orphans = now + ORPHAN_SECONDS
            for orphan in self._store.mark_interrupted():
                log.warning("Run %s had lost its worker.", orphan)
