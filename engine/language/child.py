"""A child process as its parent sees it: two pipes with deadlines, and a way to end it.

The pipes do not block, so that a call is over when its time is, whatever the child does: `send` and `receive` wait for
the pipe at most until a deadline. `receive` also finds out how a child ended that ended too soon.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from engine.language import frames

_ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 120.0
_ERROR_TAIL = 4000
# OpenFst does not catch C++'s complaint about memory, nor does the C library's loader live through its own.
_OUT_OF_MEMORY = ("bad_alloc", "MemoryError", "annot allocate memory", "failed to map segment")


class ChildEndedError(Exception):
    """The child is gone; the text says how, `out_of_memory` whether it said that memory ran out."""

    def __init__(self, text: str, out_of_memory: bool) -> None:
        super().__init__(text)
        self.out_of_memory = out_of_memory


class Child:
    """A started child, and the parent's ends of its pipes."""

    def __init__(self, target: str, warm_up: str | None) -> None:
        self.is_ready = False
        # What the child prints goes to a file: a pipe that nobody reads would block it in the end.
        self._errors = tempfile.TemporaryFile("a+b")  # noqa: SIM115  (closed by kill)
        environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "engine.language.serving", target, warm_up or "", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
            start_new_session=True,
            env=environment,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._input, self._output = self.process.stdin.fileno(), self.process.stdout.fileno()
        os.set_blocking(self._input, False)
        os.set_blocking(self._output, False)

    def wait_until_ready(self) -> None:
        """Wait for the first message of a new child. Raises `RuntimeError` when it could not start."""
        if not self.is_ready:
            try:
                self.receive(time.monotonic() + _START_SECONDS)
            except (TimeoutError, ChildEndedError):
                raise RuntimeError(f"An isolated process could not start:\n{self._error_tail()}") from None
            self.is_ready = True
        self._errors.truncate(0)

    def send(self, data: bytes, deadline: float) -> None:
        """Write all of `data`; `TimeoutError` when the deadline (of `time.monotonic`) passes before."""
        view = memoryview(data)
        while view:
            self._wait(self._input, select.POLLOUT, deadline)
            try:
                view = view[os.write(self._input, view) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._ended() from None

    def receive(self, deadline: float) -> dict[str, Any]:
        """The next message of the child."""
        header, body = frames.LENGTHS.unpack(self._read(frames.LENGTHS.size, deadline))
        return frames.unpack(self._read(header, deadline), self._read(body, deadline))

    def kill(self) -> None:
        """End the child and whatever it may have started, and release its pipes."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self._errors):
            if stream is not None:
                stream.close()

    def _read(self, count: int, deadline: float) -> bytearray:
        data = bytearray(count)
        view = memoryview(data)
        while view:
            self._wait(self._output, select.POLLIN, deadline)
            try:
                got = os.readv(self._output, [view])
            except BlockingIOError:
                continue
            if got == 0:
                raise self._ended()
            view = view[got:]
        return data

    def _wait(self, descriptor: int, event: int, deadline: float) -> None:
        poller = select.poll()
        poller.register(descriptor, event)
        remaining = deadline - time.monotonic()
        if remaining <= 0 or not poller.poll(remaining * 1000):
            raise TimeoutError

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
