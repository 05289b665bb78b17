"""The real dashboard in a process of its own, and a Chromium to look at it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Download, Locator, Page, Playwright, TimeoutError

from relens.runs.store import Store

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
    environment = {
        "RELENS_STORE": store_url,
        # Browser, dashboard and worker share few cores here; a model with a thread on each would wait for itself.
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    with running_page(Path("app/relens_dashboard/main.py"), folder / "dashboard.log", environment) as (url, process):
        yield Dashboard(url, Store(store_url), process)


@contextmanager
def running_page(
    script: Path, log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """`streamlit run script` on a free port once it answers, its address and its process; ended at the end."""
    port = _free_port()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "streamlit", "run", str(ROOT / script), "--server.port", str(port)],
            # Where Streamlit's settings are, for every script.
            cwd=ROOT / "app" / "relens_dashboard",
            env=os.environ | (environment or {}),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        url = f"http://localhost:{port}"
        try:
            _wait_until_healthy(url, process)
            yield url, process
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(20)


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
        return self.page.locator(".st-key-verdict .relens-verdict").first

    def ended(self, status: str) -> Locator:
        """The headline of a run that is over with that status."""
        return self.page.locator(f'[data-run-status="{status}"]').first

    def run_id(self, other_than: str | None = None) -> str:
        """The run in the page's address, once there is one that is another than that."""
        return parameter(self.page, "run", other_than)

    def select_line(self, place: int) -> None:
        """Select a line of the table, from 0, and wait until its match is open."""
        opened = self.page.locator(".st-key-match_detail")
        for _ in range(10):
            # The table may be drawn anew just when it is clicked, and then hears nothing.
            table = self.page.locator("[data-testid=stDataFrame] canvas").first
            table.click(position={"x": 15, "y": 50 + 35 * place}, force=True)
            with suppress(TimeoutError):
                opened.wait_for(timeout=PATIENCE / 20)
                return
        raise AssertionError(f"Line {place} cannot be selected.")


def parameter(page: Page, name: str, other_than: str | None = None) -> str:
    """A parameter of the page's address, once it is there and another than that."""
    # Asked of the page itself, since Playwright's own idea of the address may be an old one.
    value = page.wait_for_function(
        """([name, other]) => {
          const value = new URL(location).searchParams.get(name)
          return value !== other && value
        }""",
        arg=[name, other_than],
    )
    return str(value.json_value())


def download(button: Locator) -> Download:
    """Press a button that saves a file; the file."""
    for _ in range(5):
        button.wait_for()
        # A file is made when it is asked for, and forgotten where the page is drawn anew just then: ask again.
        with suppress(TimeoutError):
            with button.page.expect_download(timeout=PATIENCE / 5) as waiting:
                button.click()
            return waiting.value
    raise AssertionError("No file was saved.")


def stop_everything(store: Store) -> None:
    """Stop every run that waits or goes on, and wait until all are over."""

    def is_over() -> bool:
        store.mark_interrupted()  # where the worker was killed, nobody else may be looking
        live = store.find(statuses=("queued", "running"), limit=10_000)
        for run in live:
            if not run.stop_requested:
                store.request_stop(run.id)
        return not live

    wait_until(is_over, what="The end of the runs that were left")


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
        assert process.poll() is None, "The server ended before it answered."
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    wait_until(healthy, what="The server's health")
