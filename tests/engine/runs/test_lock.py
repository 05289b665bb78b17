"""The lock of a store's worker: one holder, given back by any death."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from relens.errors import StoreError
from relens.runs.lock import WorkerLock, lock_path
from tests.engine.runs.conftest import ROOT
from tests.engine.runs.helpers import wait_until

HOLD = """
import sys, time
from relens.runs.lock import WorkerLock
lock = WorkerLock(sys.argv[1])
lock.acquire()
time.sleep(600)
"""


@pytest.fixture
def url(tmp_path) -> str:
    return f"sqlite:///{tmp_path / 'runs.db'}"


def test_one_holds_it_and_the_next_waits(url):
    first, second = WorkerLock(url), WorkerLock(url)
    assert not second.is_held()
    assert first.acquire()
    assert first.is_held()
    assert second.is_held()
    assert not second.acquire(patience=0.1)
    timer = threading.Timer(0.2, first.release)
    timer.start()
    assert second.acquire(patience=60.0)
    timer.join()
    second.release()
    second.release()
    assert not first.is_held()


def test_a_killed_holder_gives_it_back(url):
    lock = WorkerLock(url)
    holder = subprocess.Popen([sys.executable, "-c", HOLD, url], cwd=ROOT)
    wait_until(lock.is_held)
    holder.kill()
    holder.wait()
    assert not lock.is_held()


def test_each_store_has_its_own(tmp_path):
    urls = [f"sqlite:///{tmp_path}/a.db", f"sqlite:///{tmp_path}/b.db", "postgresql://h/a", "postgresql://h/b"]
    assert len({lock_path(url) for url in urls}) == 4
    assert lock_path(f"sqlite:///{tmp_path}/x/../a.db") == lock_path(urls[0])
    assert "h" not in lock_path("postgresql://user:secret@h/a").name.split("-")


def test_a_folder_that_is_missing_is_a_sentence(tmp_path):
    with pytest.raises(StoreError, match="could not be opened"):
        WorkerLock(f"sqlite:///{tmp_path}/missing/runs.db").acquire()
