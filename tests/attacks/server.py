"""The real dashboard in a folder of its own, and three meters on it: deafness, memory, processes.

    with attacked(folder, models=tiny) as target:
        freeze = target.deafness(lambda: visitor.open("history"))     seconds
        target.memory()                                               bytes, the server and all it has started
        target.processes()                                            whatever belongs to it, orphans included

A process belongs to the server if it has this folder in its environment: what the server starts inherits it, also when
its parent is gone and nobody could tell otherwise.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import psutil

from relens.runs.store import Store
from tests.attacks.session import Session

ROOT = Path(__file__).resolve().parents[2]

#: The longest that anybody may make everybody else wait, in seconds.
LONGEST_FREEZE = 0.3
#: A server that was deaf for so long was so by its own doing.
SURELY_FROZEN = 1.0


@dataclass
class Target:
    """A running dashboard. folder: it keeps all that it has in there. model: the only one that may be loaded."""

    url: str
    folder: Path
    model: str
    process: subprocess.Popen[bytes]

    @property
    def store_url(self) -> str:
        """The store of its runs."""
        return _store_url(self.folder)

    @cached_property
    def store(self) -> Store:
        """The same, opened here."""
        return Store(self.store_url)

    def visitor(self, **headers: str) -> Session:
        """A new browser session."""
        return Session(self.url, headers)

    def warm(self) -> None:
        """Wait until what is done once is done: imports, preview children, the worker with its model."""
        with self.visitor() as visitor:
            visitor.open("workbench", f"pattern=a&model={self.model}")
            visitor.look_until(lambda: is_answered(visitor), "the first preview")
        wait_until(lambda: any(worker.alive and worker.state == "idle" for worker in self.store.workers()), "a worker")
        settle(self)

    # ------------------------------------------------------------------------------------------- the meters

    @contextmanager
    def deafness_meter(self) -> Iterator[Callable[[], float]]:
        """A function that says how long the server was deaf at most since it was last asked, in seconds."""
        port = self.url.rsplit(":", 1)[1]
        process = subprocess.Popen(
            # Without the packages of the environment, since it starts with every measurement.
            [sys.executable, "-S", str(Path(__file__).with_name("meter.py")), port, str(self.process.pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None

        def mark() -> float:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("mark\n")
            process.stdin.flush()
            return float(json.loads(process.stdout.readline())["seconds"])

        try:
            mark()
            yield mark
        finally:
            process.stdin.close()
            process.wait(60)
            process.stdout.close()

    def deafness(self, action: Callable[[], object]) -> float:
        """For how long the server was deaf at most while `action` went on and in the moment after, in seconds."""
        with self.deafness_meter() as mark:
            mark()
            action()
            time.sleep(0.2)
            return mark()

    def must_hear(self, action: Callable[[int], object]) -> None:
        """Carry `action` out; nobody else may have waited for it longer than `LONGEST_FREEZE`.

        What is a little too long is measured once more, because a machine may have been busy in a way that is not seen
        here. `action` is told which turn it is, 0 or 1, for whatever is quick when it is asked again.
        """
        freezes: list[float] = []
        for turn in range(2):
            freezes.append(self.deafness(lambda turn=turn: action(turn)))  # type: ignore[misc]
            if freezes[-1] <= LONGEST_FREEZE:
                return
            if freezes[-1] > SURELY_FROZEN:
                break
        raise AssertionError(f"the server was deaf for {', then '.join(f'{seconds:.2f} s' for seconds in freezes)}")

    def processes(self) -> list[psutil.Process]:
        """All that live and belong to this server, itself included."""
        return processes_of(self.folder)

    def memory(self, *, server_alone: bool = False) -> int:
        """The memory of the server and all that belongs to it, in bytes; what processes share is counted once."""
        total = 0
        for process in [psutil.Process(self.process.pid)] if server_alone else self.processes():
            with contextlib.suppress(psutil.Error):
                total += process.memory_full_info().pss
        return total

    def computing(self, action: Callable[[], object]) -> float:
        """For how many seconds the server itself computed while `action` went on, on all processors together.

        What else the machine does makes everything take longer, but not this.
        """
        server = psutil.Process(self.process.pid)
        before = sum(server.cpu_times()[:2])
        action()
        return float(sum(server.cpu_times()[:2]) - before)

    # ------------------------------------------------------------------------------------------------ its end

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Send the server a signal and wait for its own end, not for that of what it has started."""
        self.process.send_signal(how)
        self.process.wait(30)


@contextmanager
def attacked(
    folder: Path, model: str = "none", environment: dict[str, str] | None = None, *, healthy: bool = True
) -> Iterator[Target]:
    """The dashboard on a free port of this machine, with its store and cache in `folder`; nothing of it is left after.

    environment: variables over those that a test needs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cache").mkdir(exist_ok=True)
    port = _free_port()
    variables = os.environ | {
        "RELENS_STORE": _store_url(folder),
        "RELENS_CACHE": str(folder / "cache"),
        "RELENS_MODELS": model,
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(folder / "hub"),
        "OMP_NUM_THREADS": "1",
        **(environment or {}),
    }
    variables.pop("RELENS_DATA", None)
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app/relens_dashboard/main.py", "--server.port", str(port)],
            cwd=ROOT,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    target = Target(f"http://localhost:{port}", folder, model, process)
    try:
        if healthy:
            wait_until(lambda: _is_healthy(target), "the server's health")
        yield target
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)
        if "store" in target.__dict__:
            target.store.close()
        end_all(folder)


def processes_of(folder: Path) -> list[psutil.Process]:
    """The processes of this user that were started for this folder and have not ended."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.pid != os.getpid() and process.environ().get("RELENS_CACHE") == str(folder / "cache"):
                found.append(process)
    return [process for process in found if _lives(process)]


def end_all(folder: Path) -> None:
    """Kill whatever was started for this folder."""
    for _ in range(20):
        left = processes_of(folder)
        if not left:
            return
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=5)


def command_of(process: psutil.Process) -> str:
    """How a process was started; "" of one that is gone."""
    with contextlib.suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


def compilers(target: Target) -> list[psutil.Process]:
    """The children that compile regular expressions, of the worker and of the previews."""
    return [process for process in target.processes() if "relens.language.serving" in command_of(process)]


def is_answered(visitor: Session) -> bool:
    """Whether the query on the Workbench, or the pattern of a lesson, is explained by now, or refused."""
    words = visitor.texts()
    if visitor.elements("alert"):
        return True
    is_made = "strings</b>" in words or "string</b>" in words or visitor.has("lesson_next")
    return is_made and "data-pending" not in words and "is being made" not in words


def damage(target: Target, table: str, column: str) -> None:
    """Leave the database without a column that everything needs, as a repair or another program may."""
    with sqlite3.connect(target.folder / "runs.db", timeout=30.0) as connection:
        connection.execute(f"ALTER TABLE {table} RENAME COLUMN {column} TO unreadable")
    connection.close()


def settle(target: Target, seconds: float = 1.0, patience: float = 60.0) -> None:
    """Wait until the server and what it has started compute next to nothing."""
    give_up = time.monotonic() + patience
    while time.monotonic() < give_up:
        before = _computed(target)
        time.sleep(seconds)
        if _computed(target) - before < 0.2 * seconds:
            return


def wait_until(condition: Callable[[], object], what: str, patience: float = 120.0) -> None:
    """Wait for a condition; an AssertionError that names it when it takes too long."""
    give_up = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < give_up, f"{what} did not come within {patience:.0f} s"
        time.sleep(0.05)


def _computed(target: Target) -> float:
    total = 0.0
    for process in target.processes():
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system
    return total


def _lives(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False


def _store_url(folder: Path) -> str:
    return f"sqlite:///{folder / 'runs.db'}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def _is_healthy(target: Target) -> bool:
    assert target.process.poll() is None, "The server ended before it answered."
    try:
        with urllib.request.urlopen(f"{target.url}/_stcore/health", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
