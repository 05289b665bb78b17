"""The real dashboard in a process of its own, and a Chromium to look at it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, Playwright

from engine.runs.store import Store

ROOT = Path(__file__).resolve().parents[2]

CHROMIUM_ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

#: Generous: a small machine that does other things too loads a model in this time.
PATIENCE = 180_000


@dataclass(frozen=True)
class Dashboard:
    """A running dashboard: its address, its store, its process."""

    url: str
    store: Store
    process: subprocess.Popen[bytes]


@contextmanager
def running_dashboard(folder: Path) -> Iterator[Dashboard]:
    """The dashboard on a free port with its store in `folder`; ended, with its worker, at the end."""
    store_url = f"sqlite:///{folder / 'runs.db'}"
    port = _free_port()
    environment = os.environ | {
        "RELENS_STORE": store_url,
        # Browser, dashboard and worker share few cores here; a model with a thread on each would wait for itself.
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    log = (folder / "dashboard.log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app/main.py", "--server.port", str(port)],
        cwd=ROOT,
        env=environment,
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    url = f"http://localhost:{port}"
    try:
        _wait_until_healthy(url, process)
        yield Dashboard(url, Store(store_url), process)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)
        log.close()


def launch(playwright: Playwright) -> Browser:
    """A headless Chromium: the one of `RELENS_CHROMIUM`, or Debian's."""
    path = os.environ.get("RELENS_CHROMIUM") or "/usr/bin/chromium"
    return playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)


class Workbench:
    """The Workbench as a person uses it, on one page of a browser."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        page.set_default_timeout(PATIENCE)

    def open(self, parameters: str = "") -> None:
        """Go to the page, by a link with `parameters`."""
        self.page.goto(f"{self.url}/workbench{'?' + parameters if parameters else ''}")
        self.pattern.wait_for()

    @property
    def pattern(self) -> Locator:
        """The field of the pattern."""
        return self.page.locator(".st-key-pattern input")

    @property
    def prefix(self) -> Locator:
        """The field of the prefix."""
        return self.page.locator(".st-key-prefix input")

    @property
    def run_button(self) -> Locator:
        """Run, where it is seen and can be pressed (Streamlit keeps a second, hidden copy for other widths)."""
        return self.page.locator(".st-key-run_button button:visible:enabled")

    @property
    def stop_button(self) -> Locator:
        """Stop, where it can be pressed."""
        return self.page.locator(".st-key-stop_button button:visible:enabled")

    @property
    def verdict(self) -> Locator:
        """How many strings the query has, and examples."""
        return self.page.locator(".st-key-verdict .relens-verdict")

    def ended(self, status: str) -> Locator:
        """The headline of a run that is over with that status."""
        return self.page.locator(f'[data-run-status="{status}"]')

    def run_id(self) -> str:
        """The run in the page's address."""
        self.page.wait_for_url("**run=*")
        return self.page.url.split("run=")[1].split("&")[0]


def wait_until(condition, seconds: float = PATIENCE / 1000, what: str = "something"):  # type: ignore[no-untyped-def]
    """The first true value of `condition()`; an AssertionError that names `what` when it takes too long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen within {seconds:.0f} s.")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def _wait_until_healthy(url: str, process: subprocess.Popen[bytes]) -> None:
    def healthy() -> bool:
        assert process.poll() is None, "The dashboard ended before it answered."
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    wait_until(healthy, 60, "The dashboard's health")
