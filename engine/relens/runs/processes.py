"""Whether a process that wrote its number into a file or the store still lives.

    worker 4711, begun 88,120 ticks after "desk" was started     on this machine: looked up by its number
    a process 4711 that began later                              another one, with the number of one that has ended

The beginning of a process is counted from the start of the machine: setting the clock changes nothing.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import psutil


def host_name() -> str:
    """This machine and this space of process ids: two containers may share a name, and each has a process 1."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return f"{socket.gethostname()} {space}".strip()


@dataclass(frozen=True)
class ProcessMark:
    """A process, and no later one with its number. begun: ticks after the machine's start, None where not known."""

    host: str
    pid: int
    begun: int | None = None

    @classmethod
    def of(cls, pid: int) -> Self:
        """The process of that number on this machine."""
        return cls(host_name(), pid, _begun(pid))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self | None:
        """The mark back from `to_json`; None where it is none."""
        host, pid, begun = data.get("host"), data.get("pid"), data.get("begun")
        if not isinstance(host, str) or type(pid) is not int or not isinstance(begun, (int, type(None))):
            return None
        return cls(host, pid, begun)

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @property
    def is_here(self) -> bool:
        """Whether it is, or was, a process of this machine."""
        return self.host == host_name()

    @property
    def has_ended(self) -> bool:
        """Whether a process of this machine has ended; False for one of another machine, which cannot be seen."""
        if not self.is_here:
            return False
        try:
            # A zombie has ended: only its parent has not collected its exit status yet.
            if psutil.Process(self.pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        except psutil.Error:
            return False
        return self.begun is not None and _begun(self.pid) not in (None, self.begun)


def _begun(pid: int) -> int | None:
    """When a process began, in ticks after the machine's start: the 22nd field of its line (proc(5))."""
    try:
        # The second field is the name of the program in parentheses, which may hold blanks and parentheses.
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None
