"""One worker for each store and machine, however many dashboards use it.

The worker holds a lock on a file for as long as it lives. The operating system frees the lock when the process ends for
any reason, so no lock is left behind and nothing has to be cleaned up.

The holder writes its own process and its parent into the file:

    {"holder": {"host": "desk", "pid": 4711, "begun": 88120}, "parent": {"host": "desk", "pid": 4700, "begun": 88007}}

A worker ends with its parent. One that cannot (it is stopped, or stuck in a long call) would keep all other workers
away; without a living parent it may be killed (`Holder`).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy.engine import make_url

from relens import settings
from relens.errors import StoreError
from relens.runs.processes import ProcessMark

_LONGEST_SIGNATURE = 10_000

#: Exit status of a worker that found another one at work.
ANOTHER_WORKER = 3


def lock_path(store_url: str) -> Path:
    """The lock file of a store: next to an SQLite file, else in the cache folder under a name made from the address."""
    url = make_url(store_url)
    if url.get_backend_name() == "sqlite" and url.database:
        return Path(f"{Path(url.database).resolve()}.worker")
    digest = hashlib.sha256(store_url.encode()).hexdigest()[:16]
    return settings.cache_folder() / f"store-{digest}.worker"


@dataclass(frozen=True)
class Holder:
    """The process that holds a lock, and its parent, None for none."""

    process: ProcessMark
    parent: ProcessMark | None

    @property
    def is_orphan(self) -> bool:
        """Whether it lives on this machine and its parent has ended."""
        return (
            self.process.is_here
            and not self.process.has_ended
            and self.parent is not None
            and self.parent.is_here
            and self.parent.has_ended
        )

    def kill(self) -> None:
        """Kill it; its children end with it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.process.pid, signal.SIGKILL)


class WorkerLock:
    """The right to be the worker of a store on this machine. parent: the process that the holder ends with."""

    def __init__(self, store_url: str, parent: int | None = None) -> None:
        self._path = lock_path(store_url)
        self._parent = parent
        self._file: int | None = None

    def acquire(self, patience: float = 0.0) -> bool:
        """Take the lock, within `patience` seconds, and sign the file; False if another process keeps it.

        Patience covers the moment in which another process only looks (`is_held`). Raises `StoreError` where the file
        cannot be made.
        """
        give_up = time.monotonic() + patience
        while not self._try():
            if time.monotonic() >= give_up:
                return False
            time.sleep(0.05)
        self._sign()
        return True

    def holder(self) -> Holder | None:
        """The holder of the lock, as signed in its file; None if unknown."""
        try:
            signed = json.loads(self._path.read_bytes()[:_LONGEST_SIGNATURE])
        except (OSError, ValueError):
            return None
        if not isinstance(signed, Mapping) or not isinstance(signed.get("holder"), Mapping):
            return None
        process = ProcessMark.from_json(signed["holder"])
        parent = signed.get("parent")
        if process is None:
            return None
        return Holder(process, ProcessMark.from_json(parent) if isinstance(parent, Mapping) else None)

    def _sign(self) -> None:
        assert self._file is not None
        parent = None if self._parent is None else ProcessMark.of(self._parent).to_json()
        signature = json.dumps({"holder": ProcessMark.of(os.getpid()).to_json(), "parent": parent}).encode()
        with contextlib.suppress(OSError):  # a full disk: the lock holds all the same
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, signature, 0)

    def _try(self) -> bool:
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(
                f"The lock file {self._path} of the store could not be opened: {error.strerror}."
            ) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return False
        self._file = file
        return True

    def release(self) -> None:
        """Let go of the lock, if it is held."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def is_held(self) -> bool:
        """Whether some process holds the lock now."""
        if self._file is not None:
            return True
        if not self._try():
            return True
        self.release()
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
