"""The dashboard from Python: it answers while it runs, and ends with an interrupt."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

pytestmark = pytest.mark.heavy


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize(
    "program",
    [
        "import relens; print(relens.run_dashboard({port}))",
        "from relens.command_line.main import main; main(['run', '--port', '{port}'])",
    ],
)
def test_it_opens_and_ends(program, tmp_path):
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-c", program.format(port=port)],
        cwd=tmp_path,
        env=os.environ | {"RELENS_DATA": str(tmp_path), "RELENS_CACHE": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                with urllib.request.urlopen(f"http://localhost:{port}/_stcore/health", timeout=5) as answer:
                    assert answer.read() == b"ok"
                break
            except (urllib.error.URLError, ConnectionError):
                assert process.poll() is None, process.communicate()[0]
                assert time.monotonic() < deadline
                time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)  # Ctrl+C reaches all processes of a terminal
        assert f"Relens is starting on http://localhost:{port}" in process.communicate(timeout=60)[0]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"http://localhost:{port}/_stcore/health", timeout=5)
