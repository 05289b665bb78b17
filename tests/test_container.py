"""What the container promises, read from its file; and process 1 of it, run here: nothing that dies stays a zombie."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

ROOT = Path(__file__).resolve().parents[1]

Stage = list[tuple[str, str]]


def stages() -> list[Stage]:
    """The instructions of each stage of the Dockerfile, lines joined: ("COPY", "engine engine")."""
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    joined = "\n".join(line for line in lines if not line.startswith("#")).replace("\\\n", " ")
    found: list[Stage] = []
    for line in filter(None, joined.splitlines()):
        instruction, rest = line.split(maxsplit=1)
        if instruction == "FROM":
            found.append([])
        found[-1].append((instruction, " ".join(rest.split())))
    return found


def values(stage: Stage, instruction: str) -> list[str]:
    return [rest for name, rest in stage if name == instruction]


BUILD, IMAGE = stages()


def test_the_base_is_one_release_of_python_and_of_debian() -> None:
    bases = {values(stage, "FROM")[0].split()[0] for stage in (BUILD, IMAGE)}
    assert len(bases) == 1, "packages are built for the interpreter that runs them"
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-[a-z]+(@sha256:[0-9a-f]{64})?", bases.pop())


def test_the_server_is_nobody_who_could_change_the_program() -> None:
    (user,) = values(IMAGE, "USER")
    assert user not in ("root", "0")
    names = [name for name, _ in IMAGE]
    assert not {"COPY", "ADD", "RUN"} & set(names[names.index("USER") :]), "nothing is made by that user"
    for copied in values(IMAGE, "COPY"):
        assert not re.search(r"--ch(own|mod)", copied)
    commands = " ".join(values(IMAGE, "RUN"))
    assert re.findall(r"chown \S+ (\S+)", commands) == ["/data"], "the volume alone is the user's"
    assert re.findall(r"chmod (?:-R )?(\S+) ([^&]*)", commands)[1:] == [("1777", "cache")], (
        "sticky: only one's own is changed"
    )
    assert "chmod -R a+rX,go-w app assets engine pages " in commands


def test_the_init_is_process_1() -> None:
    (entrypoint,) = values(IMAGE, "ENTRYPOINT")
    assert entrypoint == '["tini", "--"]'
    assert re.search(r"apt-get install [^&]*\btini\b", " ".join(values(IMAGE, "RUN")))
    (command,) = values(IMAGE, "CMD")
    assert command.startswith('["relens", "run"')


def test_health_is_looked_after() -> None:
    (check,) = values(IMAGE, "HEALTHCHECK")
    assert "/_stcore/health" in check
    assert "timeout=" in check


def test_packages_come_locked_from_one_index_each() -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert "pip install" not in text, "what is installed, and how, stands in the Makefile"
    assert "extra-index-url" not in text
    assert "make setup TORCH_INDEX=${TORCH_INDEX}" in values(BUILD, "RUN")
    assert values(BUILD, "ARG") == ["TORCH_INDEX=https://download.pytorch.org/whl/cpu"]


def test_the_index_of_pytorch_is_asked_for_pytorch_alone() -> None:
    planned = subprocess.run(
        ["make", "--dry-run", "--always-make", "setup", "TORCH_INDEX=https://index.example"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    asking = [line for line in planned.splitlines() if "index.example" in line]
    assert len(asking) == 1
    assert re.search(r"--index-url https://index\.example -r locks/torch\.txt$", asking[0])
    assert sum("pip install" in line for line in planned.splitlines()) == 3


@pytest.mark.parametrize("page", ["README.md", "Dockerfile"])
def test_the_port_is_published_on_this_machine_only(page: str) -> None:
    published = re.findall(r"docker run\b[^`\n]*? -p (\S+)", (ROOT / page).read_text())
    assert published
    assert set(published) == {"127.0.0.1:8501:8501"}


def test_nothing_of_the_desk_goes_into_the_image() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".git", ".venv", "tests"} <= set(ignored)


# --- process 1 -------------------------------------------------------------------------------------------

#: A process of a kind that is its own process 1 needs Linux's namespaces, and the right to make one.
NAMESPACE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")


def _namespaces_can_be_made() -> bool:
    return bool(shutil.which("unshare")) and subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(condition, patience: float = 120.0):
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.1)
    raise AssertionError("it did not come about in time")


def _worker(server: psutil.Process, but: set[int]) -> psutil.Process | None:
    for process in server.children(recursive=True):
        try:
            if "relens.runs.worker" in process.cmdline() and process.pid not in but and process.children():
                return process
        except psutil.Error:
            continue
    return None


@pytest.mark.browser
@pytest.mark.skipif(not _namespaces_can_be_made(), reason="no process may be made process 1 here")
@pytest.mark.skipif(not shutil.which("tini"), reason="there is no tini on this machine (apt install tini)")
def test_a_killed_worker_leaves_no_zombies_in_the_container(tmp_path: Path) -> None:
    """The command of the image under its init; the worker is killed with children that are then process 1's."""
    (entrypoint,), (command,) = values(IMAGE, "ENTRYPOINT"), values(IMAGE, "CMD")
    words = [*json.loads(entrypoint), *json.loads(command)]
    place = words.index("relens")
    words[place : place + 1] = [sys.executable, "-m", "relens"]
    words[words.index("8501")] = str(port := _free_port())
    words[words.index("0.0.0.0")] = "127.0.0.1"
    environment = os.environ | {"RELENS_CACHE": str(tmp_path), "RELENS_DATA": str(tmp_path), "RELENS_MODELS": "none"}
    with tempfile.TemporaryFile() as log:
        container = subprocess.Popen([*NAMESPACE, *words], cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            outside = psutil.Process(container.pid)
            _wait_for(lambda: _answers(port))
            assert [process.name() for process in outside.children()] == ["tini"]
            killed: set[int] = set()
            with _page(port):
                for _ in range(4):
                    worker = _wait_for(lambda: _worker(outside, killed))
                    killed.add(worker.pid)
                    worker.send_signal(signal.SIGKILL)
                _wait_for(lambda: _worker(outside, killed))
            _wait_for(lambda: not _zombies(outside), 20)
        finally:
            container.kill()
            container.wait()


@contextmanager
def _page(port: int) -> Iterator[None]:
    """The dashboard open in a browser, as far as the server can tell: it starts a worker."""
    rerun = BackMsg()
    rerun.rerun_script.query_string = ""
    address = f"ws://localhost:{port}/_stcore/stream"
    with connect(address, origin=Origin(f"http://localhost:{port}"), subprotocols=[Subprotocol("streamlit")]) as page:
        page.send(rerun.SerializeToString())
        yield


def _zombies(server: psutil.Process) -> list[psutil.Process]:
    return [process for process in server.children(recursive=True) if process.status() == psutil.STATUS_ZOMBIE]


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False
