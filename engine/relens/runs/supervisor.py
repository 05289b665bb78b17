"""The dashboard's watch over the worker process.

    supervisor = Supervisor(store.url)
    supervisor.ensure()                  # at every rerun of a page; starts a thread once, then costs nothing

The thread looks every half second. If no worker serves the store, it starts one. A worker that has ended is started
again after a second, or after 2, 4, ... 30 seconds if it keeps dying young, so that a broken installation does not fill
the log. Runs of a dead worker are marked interrupted at once. A worker that lives but has not reported for half a
minute, though the store can be written, is killed and replaced: it was stopped, or is stuck.

Several dashboards may watch one store. The worker's own lock decides: a second worker steps back, and its supervisor
waits until the first is gone. A worker ends with the process that started it (`--watch-parent`), and another dashboard,
if there is one, starts the next. A stopped worker that outlives its dashboard is killed by the next dashboard.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from relens import settings
from relens.errors import RelensError, StoreError
from relens.runs.complaints import Complaints
from relens.runs.lock import ANOTHER_WORKER, WorkerLock
from relens.runs.records import WorkerRecord
from relens.runs.store import Store

LOOK_SECONDS = 0.5
SHORTEST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
#: A worker that has lived this long was healthy; when it ends, the next is started after the shortest pause.
HEALTHY_SECONDS = 60.0
#: After this silence the supervisor checks whether the store can be written.
SILENT_SECONDS = 5.0
#: After this silence a worker is replaced; before its first report, longer: a slow disk may hold up its start.
REPLACED_SECONDS, NEVER_HEARD_SECONDS = 30.0, 120.0
#: How long a worker may take to end after its dashboard has ended (`relens.runs.ending`).
ORPHAN_SECONDS = 12.0
#: A longer log is begun anew when a worker starts; one older file is kept.
LONGEST_LOG = 5_000_000

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WorkerState:
    """The worker of a store as its supervisor sees it.

    alive: a worker serves the store, started here or by another dashboard, and has reported. starting: it has been
    started but has not reported yet, or waits for its next attempt. restarts: how often it was started again.
    last_exit: in words, None before the first. pid: of the worker, None for none. log: the file of its messages.
    trouble: why the store cannot be written (a full disk), one sentence, None where it can.
    """

    alive: bool
    starting: bool
    restarts: int
    last_exit: str | None
    pid: int | None
    log: str
    trouble: str | None = None


class Supervisor:
    """Keeps one worker alive for a store; safe for threads."""

    def __init__(
        self,
        store_url: str | None = None,
        command: Sequence[str] = (sys.executable, "-m", "relens.runs.worker"),
    ) -> None:
        self._url = store_url or settings.store_url()
        self._command = tuple(command)
        self._log_path = settings.cache_folder() / "worker.log"
        self._lock = WorkerLock(self._url)
        self._store: Store | None = None
        self._mutex = threading.Lock()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0
        self._next_start = 0.0
        self._pause = SHORTEST_PAUSE
        self._starts = 0
        self._last_exit: str | None = None
        self._trouble: str | None = None
        self._complaints = Complaints(log)
        #: The latest heartbeat of our own worker, and when it was first seen, by our own clock.
        self._heard = (0.0, 0.0)
        self._orphan_since: float | None = None

    def ensure(self) -> None:
        """Keep a worker running from now on; cheap enough for every rerun of a page."""
        with self._mutex:
            if self._thread is None or not self._thread.is_alive():
                self._closing.clear()
                self._thread = threading.Thread(target=self._watch, name="supervisor", daemon=True)
                self._thread.start()

    def state(self) -> WorkerState:
        """The state of the worker. Never raises: a store that cannot be read counts as one without a worker."""
        worker = self._reported_worker()
        process = self._process
        return WorkerState(
            alive=worker is not None,
            starting=worker is None and self._thread is not None and not self._closing.is_set(),
            restarts=max(0, self._starts - 1),
            last_exit=self._last_exit,
            pid=worker.pid if worker is not None else process.pid if process is not None else None,
            log=str(self._log_path),
            trouble=self._trouble,
        )

    def stop(self, patience: float = 5.0) -> None:
        """End the watch and our own worker, which has `patience` seconds to mark its run."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
        with self._mutex:
            process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.terminate()
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            self._mark_interrupted()

    def _watch(self) -> None:
        while True:
            try:
                self._look()
                self._trouble = self._trouble_of_silent_worker()
                self._end_orphan()
            except (RelensError, OSError) as error:
                self._complaints.warn(error)
            if self._closing.wait(LOOK_SECONDS):
                return

    def _look(self) -> None:
        process = self._process
        if process is not None:
            status = process.poll()
            if status is None:
                return
            self._process = None
            self._note_end(status)
        if time.monotonic() >= self._next_start and not self._lock.is_held():
            self._start()

    def _trouble_of_silent_worker(self) -> str | None:
        """Why our own worker is silent: the store's error. A silent worker with a writable store is killed."""
        process = self._process
        if process is None:
            return None
        try:
            silence = self._silence(process.pid)
            if silence < SILENT_SECONDS:
                return None
            self._opened_store().check_writable()
        except StoreError as error:
            return error.sentence
        if silence >= (REPLACED_SECONDS if self._heard[0] else NEVER_HEARD_SECONDS):
            log.warning("The worker has not reported for %.0f s and is replaced.", silence)
            process.kill()  # its children end with it
        return None

    def _silence(self, pid: int) -> float:
        """For how many seconds the worker of that process has not reported, by our own clock."""
        latest = max((worker.heartbeat for worker in self._opened_store().workers() if worker.pid == pid), default=0.0)
        now = time.monotonic()
        if latest != self._heard[0]:
            self._heard = (latest, now)
        return now - self._heard[1]

    def _end_orphan(self) -> None:
        """Kill a worker that still has the lock some time after its dashboard has ended."""
        holder = None if self._process is not None or not self._lock.is_held() else self._lock.holder()
        if holder is None or not holder.is_orphan:
            self._orphan_since = None
        elif self._orphan_since is None:
            self._orphan_since = time.monotonic()
        elif time.monotonic() - self._orphan_since >= ORPHAN_SECONDS:
            log.warning("Worker process %d has outlived its dashboard and is ended.", holder.process.pid)
            holder.kill()

    def _start(self) -> None:
        environment = {**os.environ, "PYTHONPATH": _with_root(os.environ.get("PYTHONPATH"))}
        with self._opened_log() as log_file:
            # A session of its own: Ctrl-C in the terminal ends the dashboard, and the worker then ends in order.
            # The address goes through the environment: it may hold a password, and anybody can list arguments.
            self._process = subprocess.Popen(
                [*self._command, "--watch-parent", str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=log_file,
                stderr=log_file,
                env={**environment, "RELENS_STORE": self._url},
                start_new_session=True,
            )
        self._started_at = time.monotonic()
        self._heard = (0.0, self._started_at)
        self._starts += 1

    def _opened_log(self) -> BinaryIO:
        """The log, begun anew when it is long; the null device where it cannot be written (a full disk)."""
        try:
            if self._log_path.exists() and self._log_path.stat().st_size > LONGEST_LOG:
                self._log_path.replace(self._log_path.with_suffix(".log.old"))
            return self._log_path.open("ab")
        except OSError as error:
            log.warning("The worker's log %s cannot be written: %s", self._log_path, error)
            return Path(os.devnull).open("ab")

    def _note_end(self, status: int) -> None:
        now = time.monotonic()
        if now - self._started_at >= HEALTHY_SECONDS or status == ANOTHER_WORKER:
            self._pause = SHORTEST_PAUSE
        self._next_start = now + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        if status == ANOTHER_WORKER:
            self._starts -= 1
            return
        self._last_exit = _exit_in_words(status)
        log.warning("The worker ended (%s).", self._last_exit)
        self._mark_interrupted()

    def _mark_interrupted(self) -> None:
        try:
            self._opened_store().mark_interrupted()
        except StoreError as error:
            log.warning("%s", error)

    def _reported_worker(self) -> WorkerRecord | None:
        try:
            return next((worker for worker in self._opened_store().workers() if worker.alive), None)
        except StoreError:
            return None

    def _opened_store(self) -> Store:
        if self._store is None:
            self._store = Store(self._url)
        return self._store


def _with_root(path: str | None) -> str:
    """PYTHONPATH with the folder of this project in front: the dashboard may run in another folder."""
    root = str(Path(__file__).parents[2])
    return f"{root}{os.pathsep}{path}" if path else root


def _exit_in_words(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"ended by signal {-status}"
