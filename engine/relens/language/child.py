"""A child process as its parent sees it: two pipes with deadlines, and a way to end it.

The pipes do not block, so no call outlasts its deadline, whatever the child does: `send` and `receive` wait for the
pipe until a deadline at most, and check several times a second for a stop. `receive` also reports how a child ended
that ended too soon.

Every child is registered here from its start to its end. So all children of a program can be ended together, busy or
not (`kill_children`); the interpreter's own exit does it too.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relens.errors import StoppedError
from relens.language import frames

#: Where a child finds this package, installed or not.
_ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 120.0
_ERROR_TAIL = 4000
#: How often a wait for a child checks for a stop.
_LOOK_SECONDS = 0.05
# OpenFst does not catch C++'s complaint about memory, nor does the C library's loader live through its own.
_OUT_OF_MEMORY = ("bad_alloc", "MemoryError", "annot allocate memory", "failed to map segment")


class ChildEndedError(Exception):
    """The child is gone; the text says how, `out_of_memory` whether it said that memory ran out."""

    def __init__(self, text: str, out_of_memory: bool) -> None:
        super().__init__(text)
        self.out_of_memory = out_of_memory


@dataclass(frozen=True)
class Patience:
    """How long to wait for a child: until a time of `time.monotonic`, or until `stop` returns True."""

    until: float
    stop: Callable[[], bool] | None = None

    @classmethod
    def of(cls, seconds: float, stop: Callable[[], bool] | None = None) -> Patience:
        """So many seconds from now."""
        return cls(time.monotonic() + seconds, stop)

    def wait(self, poller: select.poll) -> None:
        """Wait for an event. Raises `TimeoutError` when the time is over, `StoppedError` when `stop` says so."""
        while True:
            if self.stop is not None and self.stop():
                raise StoppedError("The work was stopped.")
            remaining = self.until - time.monotonic()
            if remaining <= 0:
                raise TimeoutError
            if poller.poll(1000 * min(remaining, remaining if self.stop is None else _LOOK_SECONDS)):
                return


class Child:
    """A started child, and the parent's ends of its pipes."""

    def __init__(self, target: str, warm_up: str | None) -> None:
        self.is_ready = False
        self._started = time.monotonic()
        # What the child prints goes to a file: a pipe that nobody reads would block it in the end.
        self._errors = tempfile.TemporaryFile("a+b")  # noqa: SIM115  (closed by kill)
        environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "relens.language.serving", target, warm_up or "", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
            start_new_session=True,
            env=environment,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with _mutex:
            _children.add(self)
        self._input, self._output = self.process.stdin.fileno(), self.process.stdout.fileno()
        os.set_blocking(self._input, False)
        os.set_blocking(self._output, False)

    @property
    def is_starting(self) -> bool:
        """Whether neither its first message nor its end has come, and there is still time for one of them."""
        if self.is_ready or time.monotonic() - self._started > _START_SECONDS:
            return False
        poller = select.poll()
        poller.register(self._output, select.POLLIN)
        return not poller.poll(0)

    def wait_until_ready(self, stop: Callable[[], bool] | None = None) -> None:
        """Wait for the first message of a new child. Raises `RuntimeError` when it could not start."""
        if not self.is_ready:
            try:
                self.receive(Patience.of(_START_SECONDS, stop))
            except (TimeoutError, ChildEndedError):
                raise RuntimeError(f"An isolated process could not start:\n{self._error_tail()}") from None
            self.is_ready = True
        self._errors.truncate(0)

    def send(self, data: bytes, patience: Patience) -> None:
        """Write all of `data`. Raises what `Patience.wait` raises, and `ChildEndedError`."""
        view = memoryview(data)
        while view:
            self._wait(self._input, select.POLLOUT, patience)
            try:
                view = view[os.write(self._input, view) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._ended() from None

    def receive(self, patience: Patience) -> dict[str, Any]:
        """The next message of the child. Raises what `Patience.wait` raises, and `ChildEndedError`."""
        header, body = frames.LENGTHS.unpack(self._read(frames.LENGTHS.size, patience))
        return frames.unpack(self._read(header, patience), self._read(body, patience))

    def signal_end(self) -> None:
        """End the child and all that it started. Safe in any thread: a waiting call learns that it ended."""
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def kill(self) -> None:
        """End the child, bury it, and release its pipes, which no other thread may be using."""
        self.signal_end()
        self.process.wait()
        with _mutex:
            _children.discard(self)
        for stream in (self.process.stdin, self.process.stdout, self._errors):
            if stream is not None:
                stream.close()

    def _read(self, count: int, patience: Patience) -> bytearray:
        data = bytearray(count)
        view = memoryview(data)
        while view:
            self._wait(self._output, select.POLLIN, patience)
            try:
                got = os.readv(self._output, [view])
            except BlockingIOError:
                continue
            if got == 0:
                raise self._ended()
            view = view[got:]
        return data

    def _wait(self, descriptor: int, event: int, patience: Patience) -> None:
        poller = select.poll()
        poller.register(descriptor, event)
        patience.wait(poller)

    def _ended(self) -> ChildEndedError:
        try:
            code = self.process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return ChildEndedError("it closed its pipe", out_of_memory=False)
        text = signal.Signals(-code).name if -code in set(signal.Signals) else f"exit status {code}"
        tail = self._error_tail()
        return ChildEndedError(text, out_of_memory=any(sign in tail for sign in _OUT_OF_MEMORY))

    def _error_tail(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _ERROR_TAIL))
        return self._errors.read().decode(errors="replace")


_mutex = threading.Lock()
_children: set[Child] = set()


@atexit.register
def kill_children() -> None:
    """End every child of this program that has not ended."""
    with _mutex:
        children = list(_children)
    for child in children:
        child.signal_end()
