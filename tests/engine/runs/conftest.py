"""Stores in a folder of the test's own, and workers that run in a thread or in a process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import sqlalchemy

from relens.runs.database import metadata
from relens.runs.store import Store
from relens.runs.worker import Worker
from tests.engine.runs.fakes import FakeServices

ROOT = Path(__file__).parents[3]
FAKE_WORKER = (sys.executable, "-m", "tests.engine.runs.fakes")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ["PYTHONPATH"]]))
    monkeypatch.delenv("RELENS_STORE", raising=False)
    # Nothing to load ahead: the embedded model would have to be converted into this new cache first.
    monkeypatch.setenv("RELENS_MODELS", "none")


POSTGRES = os.environ.get("RELENS_TEST_POSTGRES")
sqlite_only = pytest.mark.skipif(bool(POSTGRES), reason="is about SQLite's files")


@pytest.fixture
def url(tmp_path) -> str:
    """SQLite, or the PostgreSQL database that RELENS_TEST_POSTGRES names: its tables are dropped first."""
    if not POSTGRES:
        return f"sqlite:///{tmp_path / 'runs.db'}"
    engine = sqlalchemy.create_engine(POSTGRES)
    metadata.drop_all(engine)
    engine.dispose()
    return POSTGRES


@pytest.fixture
def store(url) -> Iterator[Store]:
    store = Store(url)
    yield store
    store.close()


@pytest.fixture
def services() -> FakeServices:
    return FakeServices()


@pytest.fixture
def worker(store, services) -> Iterator[Worker]:
    """A worker that serves the store in a thread of this process."""
    worker = Worker(store, services)
    thread = threading.Thread(target=worker.serve, daemon=True)
    thread.start()
    yield worker
    services.may_load.set()
    worker.end()
    thread.join(20)
    assert not thread.is_alive()


@pytest.fixture
def start_process() -> Iterator[Callable[[Sequence[str]], subprocess.Popen[bytes]]]:
    """Starts processes, which are killed at the end of the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start(command: Sequence[str]) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def start_worker(url, start_process) -> Callable[..., subprocess.Popen[bytes]]:
    """Starts worker processes with the fake services."""
    return lambda *arguments: start_process([*FAKE_WORKER, "--store", url, *arguments])
