r"""Work that may run away, in a process that may be killed.

`[ab]*a[ab]{30}` is a short text and a deterministic automaton of 2^31 states. pynini would work on it, holding
Python's interpreter lock, until memory ends; no thread can stop it. So such work goes to a child process:

    parent                                            child: python -m engine.language.isolation module:function
      start it, in the background           ---->       import the function, warm up
                                            <----       ready
      call(payload): a frame                ---->       function(payload), under a memory limit
      wait, at most so many seconds         <----       the result, or an error to raise here
      too late, or crashed: kill it, start the next one in the background, say so in one sentence

`IsolatedProcess` is one such child and `IsolatedPool` lends several to many threads. The child is a plain
`subprocess` and not one of multiprocessing's, which would execute Streamlit's main script again. It has a session of
its own, it is nice to the others, and it dies with its parent: at the end of its input when idle, and by the
kernel's hand when busy (Linux `PR_SET_PDEATHSIG`). The kernel sends that signal when the *thread* ends that started the
child, so children are all started from one thread that lasts as long as the program.

This module imports no pynini; what the child runs is named by a string and imported there.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from engine import errors
from engine.errors import LimitError, RelensError
from engine.language import frames
from engine.language.language import Language
from engine.query import Limits

_ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 120.0
_NICENESS = 5
_ERROR_TAIL = 4000
# OpenFst does not catch C++'s complaint about memory, nor does the C library's loader live through its own.
_OUT_OF_MEMORY = ("bad_alloc", "MemoryError", "annot allocate memory", "failed to map segment")
_SET_PARENT_DEATH_SIGNAL = 1  # prctl's PR_SET_PDEATHSIG

_starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="isolation")


class IsolatedProcess:
    """A warm child process that runs one function, one call at a time, under limits.

    target: "module:function" with `function(payload: dict) -> dict`, whose values are JSON or numeric arrays. warm_up:
    "module:function" without arguments, called once in every new child before its first job. seconds: wall time of a
    call; memory_bytes: address space beyond what the child has when the call begins. subject: what the work
    is called in messages.
    """

    def __init__(
        self,
        target: str,
        *,
        seconds: float = 10.0,
        memory_bytes: int = 2 << 30,
        warm_up: str | None = None,
        subject: str = "Compiling",
    ) -> None:
        self.target = target
        self.warm_up = warm_up
        self.seconds = seconds
        self.memory_bytes = memory_bytes
        self.subject = subject
        self._lock = threading.Lock()
        self._closed = False
        self._child = self._start()

    def call(
        self, payload: Mapping[str, Any], seconds: float | None = None, memory_bytes: int | None = None
    ) -> dict[str, Any]:
        """What the function returns for `payload`. Other threads wait their turn.

        Raises the `RelensError` that the function raised, with its fields; `LimitError` when time ("compile_seconds")
        or memory ("compile_bytes") ran out; `RelensError` when the child crashed; `RuntimeError`, with the child's
        traceback, for a bug. Whatever happened, the next call finds a working child.
        """
        seconds = self.seconds if seconds is None else seconds
        memory_bytes = self.memory_bytes if memory_bytes is None else memory_bytes
        with self._lock:
            if self._closed:
                raise RuntimeError("The isolated process is closed.")
            child = self._living_child()
            try:
                child.wait_until_ready()
                deadline = time.monotonic() + seconds
                child.send(frames.pack({"payload": {}, "memory_bytes": memory_bytes}), deadline)
                child.send(frames.pack(payload), deadline)
                reply, result = child.receive(deadline), child.receive(deadline)
            except TimeoutError:
                self._replace(child)
                sentence = f"{self.subject} took longer than {seconds:g} s and was stopped."
                raise LimitError(sentence, limit="compile_seconds") from None
            except _ChildEndedError as ended:
                self._replace(child)
                if ended.out_of_memory:
                    raise self._memory_error(memory_bytes) from None
                sentence = f"{self.subject} failed, because its process ended unexpectedly ({ended}); please try again."
                raise RelensError(sentence) from None
            except BaseException:  # an interrupt, say: the answer still to come must not be taken for the next one
                self._replace(child)
                raise
            if reply["outcome"] == "memory":
                self._replace(child)
                raise self._memory_error(memory_bytes)
        if reply["outcome"] == "error":
            raise _error_from(reply)
        if reply["outcome"] == "bug":
            raise RuntimeError(f"The isolated {self.target} failed:\n{reply['traceback']}")
        return result

    def close(self) -> None:
        """End the child. Waits for a call in progress."""
        with self._lock:
            if not self._closed:
                self._closed = True
                with contextlib.suppress(OSError):
                    self._child.result().kill()

    @property
    def process_id(self) -> int:
        """The process id of the present child, once it has been started."""
        return self._child.result().process.pid

    def _start(self) -> Future[_Child]:
        return _starter.submit(_Child, self.target, self.warm_up)

    def _living_child(self) -> _Child:
        """The child, or a new one where it ended while it was idle or could not be started."""
        try:
            child = self._child.result()
        except OSError:
            self._child = self._start()
            return self._child.result()
        if child.process.poll() is not None and child.is_ready:
            self._replace(child)
            child = self._child.result()
        return child

    def _replace(self, child: _Child) -> None:
        child.kill()
        self._child = self._start()

    def _memory_error(self, memory_bytes: int) -> LimitError:
        sentence = f"{self.subject} needed more than {memory_bytes / (1 << 20):,.0f} MiB of memory and was stopped."
        return LimitError(sentence, limit="compile_bytes")


class IsolatedPool:
    """Up to `size` isolated processes, each lent to one caller at a time; more callers wait.

    One process is started at once and the others when they are first needed. The options are those of
    `IsolatedProcess`.
    """

    def __init__(self, target: str, size: int, **options: Any) -> None:
        if size < 1:
            raise ValueError("A pool needs at least one process.")
        self._target, self._options, self._size = target, options, size
        self._changed = threading.Condition()
        self._processes = [IsolatedProcess(target, **options)]
        self._free = list(self._processes)
        self._closed = False

    def call(
        self, payload: Mapping[str, Any], seconds: float | None = None, memory_bytes: int | None = None
    ) -> dict[str, Any]:
        """`IsolatedProcess.call` in the first process that is free."""
        process = self._borrow()
        try:
            return process.call(payload, seconds, memory_bytes)
        finally:
            with self._changed:
                self._free.append(process)
                self._changed.notify()

    def close(self) -> None:
        """End all processes. Waits for the calls in progress."""
        with self._changed:
            self._closed = True
            processes = list(self._processes)
            self._changed.notify_all()
        for process in processes:
            process.close()

    def _borrow(self) -> IsolatedProcess:
        with self._changed:
            while not self._closed:
                if self._free:
                    return self._free.pop()
                if len(self._processes) < self._size:
                    self._processes.append(IsolatedProcess(self._target, **self._options))
                    return self._processes[-1]
                self._changed.wait()
        raise RuntimeError("The pool of isolated processes is closed.")


class IsolatedCompiler:
    """`compile_language` in a pool of isolated processes, under the limits' own seconds and bytes."""

    def __init__(self, pool_size: int) -> None:
        self.pool = IsolatedPool(
            "engine.language.compile:compile_job", pool_size, warm_up="engine.language.compile:warm_up"
        )

    def __call__(self, prefix: str, pattern: str, limits: Limits | None = None) -> Language:
        """The compiled language; raises what `compile_language` and `IsolatedProcess.call` raise."""
        limits = limits or Limits()
        payload = {"prefix": prefix, "pattern": pattern, "limits": limits.to_json()}
        return Language.from_arrays(self.pool.call(payload, limits.compile_seconds, limits.compile_bytes))

    def close(self) -> None:
        """End the processes."""
        self.pool.close()


def isolated_compiler(pool_size: int = 2) -> IsolatedCompiler:
    """A `LanguageCompiler` that never runs pynini in this process."""
    return IsolatedCompiler(pool_size)


class _ChildEndedError(Exception):
    """The child is gone; the text says how, `out_of_memory` whether it said that memory ran out."""

    def __init__(self, text: str, out_of_memory: bool) -> None:
        super().__init__(text)
        self.out_of_memory = out_of_memory


class _Child:
    """A started child, and the parent's ends of its pipes."""

    def __init__(self, target: str, warm_up: str | None) -> None:
        self.is_ready = False
        # What the child prints goes to a file: a pipe that nobody reads would block it in the end.
        self._errors = tempfile.TemporaryFile("a+b")  # noqa: SIM115  (closed by kill)
        environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "engine.language.isolation", target, warm_up or "", str(os.getpid())],
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
        if not self.is_ready:
            try:
                self.receive(time.monotonic() + _START_SECONDS)
            except (TimeoutError, _ChildEndedError):
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

    def _ended(self) -> _ChildEndedError:
        try:
            code = self.process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return _ChildEndedError("it closed its pipe", out_of_memory=False)
        text = signal.Signals(-code).name if -code in set(signal.Signals) else f"exit status {code}"
        tail = self._error_tail()
        return _ChildEndedError(text, out_of_memory=any(sign in tail for sign in _OUT_OF_MEMORY))

    def _error_tail(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _ERROR_TAIL))
        return self._errors.read().decode(errors="replace")


def _error_from(reply: Mapping[str, Any]) -> RelensError:
    """The error that the child raised, as the same class with the same fields."""
    kind = getattr(errors, reply["kind"], None)
    if isinstance(kind, type) and issubclass(kind, RelensError):
        with contextlib.suppress(TypeError):
            return kind(reply["sentence"], **reply["fields"])
    return RelensError(reply["sentence"])


# What follows runs in the child.


def _serve(target: str, warm_up: str, parent: int) -> None:
    """Answer calls until the input ends."""
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # A stray print must not end up between the frames, nor a stray input() take one away.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    _die_with(parent)
    os.nice(_NICENESS)
    function: Callable[[dict[str, Any]], dict[str, Any]] = _imported(target)
    if warm_up:
        _imported(warm_up)()
    _answer(answers, {"outcome": "ready"})
    while (instructions := _next(calls)) is not None:
        payload = _next(calls)
        if payload is None:
            break
        reply, result = _run(function, payload, instructions["memory_bytes"])
        _answer(answers, reply)
        _answer(answers, result)


def _run(
    function: Callable[[dict[str, Any]], dict[str, Any]], payload: dict[str, Any], memory_bytes: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Outcome and result of one job."""
    try:
        with _memory_limit(memory_bytes):
            return {"outcome": "done"}, function(payload)
    except RelensError as error:
        return {"outcome": "error", "kind": error.kind, "sentence": str(error), "fields": vars(error)}, {}
    except MemoryError:
        return {"outcome": "memory"}, {}
    except Exception:
        return {"outcome": "bug", "traceback": traceback.format_exc()}, {}


@contextlib.contextmanager
def _memory_limit(memory_bytes: int) -> Any:
    """At most so much more address space than now."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:  # no Linux: the time limit must do
        yield
        return
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + memory_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _die_with(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before we could ask
        sys.exit(0)


def _imported(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def _next(calls: BinaryIO) -> dict[str, Any] | None:
    lengths = calls.read(frames.LENGTHS.size)
    if len(lengths) < frames.LENGTHS.size:
        return None
    header, body = frames.LENGTHS.unpack(lengths)
    return frames.unpack(calls.read(header), calls.read(body))


def _answer(answers: BinaryIO, message: Mapping[str, Any]) -> None:
    answers.write(frames.pack(message))
    answers.flush()


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2], int(sys.argv[3]))
