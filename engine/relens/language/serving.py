"""The child's side of isolation: run one function for the frames on standard input.

    python -m relens.language.serving relens.language.compile:compile_job relens.language.compile:warm_up 4711

The last argument is the process that started this one and without which it has no reason to live. Every call is two
frames, instructions and payload, and every answer two, outcome and result; the first answer, before any call, says
that the child is ready.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from relens.errors import RelensError
from relens.language import frames, isolation

_NICENESS = 5
_SET_PARENT_DEATH_SIGNAL = 1  # prctl's PR_SET_PDEATHSIG


def _serve(target: str, warm_up: str, parent: int) -> None:
    """Answer calls until the input ends."""
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # A stray print must not end up between the frames, nor a stray input() take one away.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    _die_with(parent)
    os.nice(_NICENESS)
    isolation.compile_in_this_process()
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
def _memory_limit(memory_bytes: int) -> Iterator[None]:
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
