"""Waiting for other threads and processes, and a process that is gone."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object], patience: float = 120.0) -> None:
    """Wait for a condition; the patience is only there to end a test that would never end."""
    give_up = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < give_up, "waited in vain"
        time.sleep(0.01)


def dead_pid() -> int:
    """The number of a process that has just ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid
