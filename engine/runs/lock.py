"""One worker a store and machine, however many dashboards watch over it.

The worker holds a lock on a file for as long as it lives. The operating system takes the lock back when the process
ends, whatever ended it, so a lock is never left behind and nothing has to be cleaned up.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy.engine import make_url

from engine import settings
from engine.errors import StoreError

#: Exit status of a worker that found another one at work.
ANOTHER_WORKER = 3


def lock_path(store_url: str) -> Path:
    """The lock file of a store: beside an SQLite file, else in the cache folder under a name made from the address."""
    url = make_url(store_url)
    if url.get_backend_name() == "sqlite" and url.database:
        return Path(f"{Path(url.database).resolve()}.worker")
    digest = hashlib.sha256(store_url.encode()).hexdigest()[:16]
    return settings.cache_folder() / f"store-{digest}.worker"


class WorkerLock:
    """The right to be the worker of a store on this machine."""

    def __init__(self, store_url: str) -> None:
        self._path = lock_path(store_url)
        self._file: int | None = None

    def acquire(self, patience: float = 0.0) -> bool:
        """Take the lock, if nobody holds it for longer than `patience` seconds.

        Patience is for the moment in which another only looks (`is_held`). Raises `StoreError` where the file cannot
        be made.
        """
        give_up = time.monotonic() + patience
        while not self._try():
            if time.monotonic() >= give_up:
                return False
            time.sleep(0.05)
        return True

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
        """Let go of the lock; nothing happens where it is not held."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def is_held(self) -> bool:
        """Whether some process holds the lock now."""
        if self._file is not None:
            return True
        if not self.acquire():
            return True
        self.release()
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
