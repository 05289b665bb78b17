r"""Work that may run away, in a process that may be killed.

`[ab]*a[ab]{30}` is a short text and a deterministic automaton of 2^31 states. pynini would work on it, holding
Python's interpreter lock, until memory ends; no thread can stop it. So such work goes to a child process:

    parent                                            child: python -m relens.language.serving module:function
      start it, in the background           ---->       import the function, warm up
                                            <----       ready
      call(payload): a frame                ---->       function(payload), under a memory limit
      wait, at most so many seconds         <----       the result, or an error to raise here
      too late, stopped, or crashed: kill it, start the next one in the background, say so in one sentence

`IsolatedProcess` is one such child and `IsolatedPool` lends several to many threads. The child is a plain
`subprocess` and not one of multiprocessing's, which would execute Streamlit's main script again. It has a session of
its own, it is nice to the others, and it dies with its parent: at the end of its input when idle, and by the
kernel's hand when busy (Linux `PR_SET_PDEATHSIG`). The kernel sends that signal when the *thread* ends that started the
child, so children are all started from one thread that lasts as long as the program.

This module imports no pynini; what the child runs is named by a string and imported there.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import Any

from relens import errors
from relens.errors import LimitError, RelensError, StoppedError
from relens.language import frames
from relens.language.child import Child, ChildEndedError, Patience
from relens.language.language import Language, LanguageCompiler
from relens.query import Limits, Query

_starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="isolation")

#: How often a wait for a free process checks for a stop.
_LOOK_SECONDS = 0.05

Stop = Callable[[], bool]


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
        self,
        payload: Mapping[str, Any],
        seconds: float | None = None,
        memory_bytes: int | None = None,
        stop: Stop | None = None,
    ) -> dict[str, Any]:
        """What the function returns for `payload`. Other threads wait their turn.

        stop: looked at several times a second; once it says True the child is killed. Raises the `RelensError` that the
        function raised, with its fields; `LimitError` when time ("compile_seconds") or memory ("compile_bytes") ran
        out; `StoppedError` when `stop` said so; `RelensError` when the child crashed; `RuntimeError`, with the child's
        traceback, for a bug. Whatever happened, the next call finds a working child.
        """
        seconds = self.seconds if seconds is None else seconds
        memory_bytes = self.memory_bytes if memory_bytes is None else memory_bytes
        with self._lock:
            if self._closed:
                raise RuntimeError("The isolated process is closed.")
            child = self._living_child()
            if self._closed:  # by another thread, meanwhile
                raise RuntimeError("The isolated process is closed.")
            try:
                child.wait_until_ready(stop)
                patience = Patience.of(seconds, stop)
                child.send(frames.pack({"payload": {}, "memory_bytes": memory_bytes}), patience)
                child.send(frames.pack(payload), patience)
                reply, result = child.receive(patience), child.receive(patience)
            except TimeoutError:
                self._replace(child)
                sentence = f"{self.subject} took longer than {seconds:g} s and was stopped."
                raise LimitError(sentence, limit="compile_seconds") from None
            except ChildEndedError as ended:
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
        """End the child here and now; a call in progress fails as of a crash."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._child.result().signal_end()
        with self._lock, contextlib.suppress(OSError):
            self._child.result().kill()

    @property
    def is_starting(self) -> bool:
        """Whether a call would have to wait for the child to be ready; to be used while no call is in progress."""
        child = self._child
        return not child.done() or (child.exception() is None and child.result().is_starting)

    @property
    def process_id(self) -> int:
        """The process id of the present child, once it has been started."""
        return self._child.result().process.pid

    def _start(self) -> Future[Child]:
        return _starter.submit(Child, self.target, self.warm_up)

    def _living_child(self) -> Child:
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

    def _replace(self, child: Child) -> None:
        child.kill()
        if not self._closed:
            self._child = self._start()

    def _memory_error(self, memory_bytes: int) -> LimitError:
        sentence = f"{self.subject} needed more than {memory_bytes / (1 << 20):,.0f} MiB of memory and was stopped."
        return LimitError(sentence, limit="compile_bytes")


class IsolatedPool:
    """Up to `size` isolated processes, each lent to one caller at a time; more callers wait.

    A child is ready a second after its start, later on a busy machine, and from then on answers in milliseconds. So it
    is better to wait for a ready one than for a new one to start; and the successor of a child that was killed for its
    hostile job must not get the next keystroke of somebody else. Ready children are lent, the one used last first:

        free  [3 starting] [2] [1]     call: takes 1, answers, puts it back

    One process is started at once, and another when a call finds none free; with `spare` as soon as the last free one
    is taken, so that it is ready by then. The options are those of `IsolatedProcess`. Safe for threads.
    """

    def __init__(self, target: str, size: int, *, spare: bool = False, **options: Any) -> None:
        if size < 1:
            raise ValueError("A pool needs at least one process.")
        self._target, self._options, self._size, self._spare = target, options, size, spare
        self._changed = threading.Condition()
        self._processes: list[IsolatedProcess] = []
        self._free: list[IsolatedProcess] = []
        self._closed = False
        self._grow()

    def call(
        self,
        payload: Mapping[str, Any],
        seconds: float | None = None,
        memory_bytes: int | None = None,
        stop: Stop | None = None,
    ) -> dict[str, Any]:
        """`IsolatedProcess.call` in a process that is free and ready; `stop` ends the wait for one too."""
        process = self._borrow(stop)
        try:
            return process.call(payload, seconds, memory_bytes, stop)
        finally:
            with self._changed:
                self._free.append(process)
                self._changed.notify_all()

    def close(self) -> None:
        """End all processes here and now; calls in progress fail as of a crash."""
        with self._changed:
            self._closed = True
            processes = list(self._processes)
            self._changed.notify_all()
        for process in processes:
            process.close()

    def _borrow(self, stop: Stop | None) -> IsolatedProcess:
        with self._changed:
            while not self._closed:
                if stop is not None and stop():
                    raise StoppedError("The work was stopped.")
                ready = next((process for process in reversed(self._free) if not process.is_starting), None)
                if ready is not None:
                    self._free.remove(ready)
                if not self._free and (ready is None or self._spare):
                    self._grow()
                if ready is not None:
                    return ready
                # The end of a start notifies nobody, and neither does `stop`.
                self._changed.wait(_LOOK_SECONDS if self._free or stop is not None else None)
        raise RuntimeError("The pool of isolated processes is closed.")

    def _grow(self) -> None:
        if len(self._processes) < self._size:
            self._processes.append(IsolatedProcess(self._target, **self._options))
            self._free.append(self._processes[-1])


class IsolatedCompiler:
    """`compile_language` in a pool of isolated processes, under the limits' own seconds and bytes."""

    def __init__(self, pool: IsolatedPool, stop: Stop | None = None) -> None:
        self.pool = pool
        self._stop = stop

    def __call__(self, query: Query, limits: Limits | None = None) -> Language:
        """The compiled language; raises what `compile_language` and `IsolatedProcess.call` raise."""
        limits = limits or Limits()
        payload = {"query": query.to_json(), "limits": limits.to_json()}
        return Language.from_arrays(self.pool.call(payload, limits.compile_seconds, limits.compile_bytes, self._stop))

    def until(self, stop: Stop) -> IsolatedCompiler:
        """The same compiler, in the same processes, which gives up a query with `StoppedError` once `stop` says so."""
        return IsolatedCompiler(self.pool, stop)

    def close(self) -> None:
        """End the processes."""
        self.pool.close()


def isolated_compiler(pool_size: int = 2) -> IsolatedCompiler:
    """A `LanguageCompiler` that never runs pynini in this process."""
    return IsolatedCompiler(
        IsolatedPool("relens.language.compile:compile_job", pool_size, warm_up="relens.language.compile:warm_up")
    )


#: Whether this process is such a child itself, whose limits hold for all that it does.
_is_child = False


def compile_in_this_process() -> None:
    """Say that this process is limited as a whole, and needs no other one to compile in."""
    global _is_child
    _is_child = True


@lru_cache(maxsize=1)
def default_compiler() -> LanguageCompiler:
    """The compiler without a choice: child processes, so that the limits of a query hold.

    Within such a child it is `compile_language`. The children are shared by the whole program, and end with it.
    """
    if _is_child:
        from relens.language.compile import compile_language

        return compile_language
    return isolated_compiler()


def _error_from(reply: Mapping[str, Any]) -> RelensError:
    """The error that the child raised, as the same class with the same fields."""
    kind = getattr(errors, reply["kind"], None)
    if isinstance(kind, type) and issubclass(kind, RelensError):
        with contextlib.suppress(TypeError):
            return kind(reply["sentence"], **reply["fields"])
    return RelensError(reply["sentence"])
