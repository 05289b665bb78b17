"""Whether a process that wrote its number into the store is still there."""

from __future__ import annotations

import os
import socket

import psutil


def host_name() -> str:
    """This machine and this space of process ids: two containers may share a name, and each has a process 1."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return f"{socket.gethostname()} {space}".strip()


def process_exists(pid: int) -> bool:
    """Whether a process of this machine is there and has not ended; one that nobody has buried yet has."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True
