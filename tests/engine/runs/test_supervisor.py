"""The supervisor with real worker processes that serve with fake services."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from relens.runs import supervisor as supervisor_module
from relens.runs.processes import ProcessMark
from relens.runs.supervisor import Supervisor
from tests.engine.runs.conftest import FAKE_WORKER, sqlite_only
from tests.engine.runs.fakes import specification
from tests.engine.runs.helpers import wait_until

pytestmark = pytest.mark.heavy


@pytest.fixture
def supervise(url, monkeypatch):
    monkeypatch.setattr(supervisor_module, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(supervisor_module, "SHORTEST_PAUSE", 0.1)
    started = []

    def start(command=FAKE_WORKER):
        supervisor = Supervisor(url, command)
        started.append(supervisor)
        supervisor.ensure()
        return supervisor

    yield start
    for supervisor in started:
        supervisor.stop()


def test_a_worker_is_started_and_serves(store, supervise):
    supervisor = supervise()
    run_id = store.submit(specification("3"))
    wait_until(lambda: store.get(run_id).status == "done")
    state = supervisor.state()
    assert (state.alive, state.starting, state.restarts, state.last_exit) == (True, False, 0, None)
    assert state.pid == store.workers()[0].pid
    assert "serves" in Path(state.log).read_text()
    worker = ProcessMark.of(state.pid)
    supervisor.stop()
    assert worker.has_ended
    assert not supervisor.state().alive
    assert not supervisor.state().starting


def test_a_killed_worker_is_replaced_and_its_run_interrupted(store, supervise):
    supervisor = supervise()
    run_id = store.submit(specification("forever"))
    wait_until(lambda: store.get(run_id).row_count >= 3)
    pid = supervisor.state().pid
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: store.get(run_id).status == "interrupted")
    assert store.get(run_id).row_count >= 3
    again = store.submit(specification("3"))
    wait_until(lambda: store.get(again).status == "done")
    wait_until(lambda: supervisor.state().alive)
    state = supervisor.state()
    assert state.pid != pid
    assert (state.restarts, state.last_exit) == (1, "ended by SIGKILL")


def test_two_supervisors_share_one_worker_and_the_second_takes_over(store, supervise):
    first = supervise()
    wait_until(lambda: first.state().alive)
    second = supervise()
    pid = first.state().pid
    assert second.state().pid == pid
    first.stop()
    wait_until(lambda: second.state().alive and second.state().pid != pid)
    run_id = store.submit(specification("3"))
    wait_until(lambda: store.get(run_id).status == "done")


def test_a_worker_that_cannot_start_is_tried_ever_less_often(supervise):
    supervisor = supervise((sys.executable, "-c", "raise SystemExit(7)"))
    wait_until(lambda: supervisor.state().restarts >= 2)
    state = supervisor.state()
    assert (state.alive, state.starting, state.last_exit) == (False, True, "exit status 7")


def test_ensure_may_be_called_by_everybody_at_any_time(store, supervise):
    supervisor = supervise()
    for _ in range(50):
        supervisor.ensure()
    wait_until(lambda: supervisor.state().alive)
    assert supervisor.state().restarts == 0
    assert len(store.workers()) == 1


@sqlite_only
def test_the_supervisor_reports_a_store_that_cannot_be_written(store, supervise, monkeypatch, tmp_path):
    monkeypatch.setattr(supervisor_module, "SILENT_SECONDS", 2.5)
    monkeypatch.setattr("relens.runs.database.BUSY_SECONDS", 0.05)
    supervisor = supervise()
    wait_until(lambda: supervisor.state().alive)
    locker = sqlite3.connect(tmp_path / "runs.db", isolation_level=None)
    locker.execute("BEGIN IMMEDIATE")
    wait_until(lambda: "locked by another program" in (supervisor.state().trouble or ""))
    locker.execute("ROLLBACK")
    locker.close()
    wait_until(lambda: supervisor.state().trouble is None)
    assert supervisor.state().restarts == 0


def test_a_worker_that_was_stopped_by_a_signal_is_replaced(store, supervise, monkeypatch):
    monkeypatch.setattr(supervisor_module, "SILENT_SECONDS", 1.0)
    monkeypatch.setattr(supervisor_module, "REPLACED_SECONDS", 4.0)
    supervisor = supervise()
    run_id = store.submit(specification("forever"))
    wait_until(lambda: store.get(run_id).row_count)
    pid = supervisor.state().pid
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: store.get(run_id).status == "interrupted")
    again = store.submit(specification("3"))
    wait_until(lambda: store.get(again).status == "done")
    assert supervisor.state().pid != pid
    assert supervisor.state().last_exit == "ended by SIGKILL"


def test_a_stopped_worker_that_outlived_its_dashboard_is_ended_by_the_next(store, supervise, monkeypatch, start_worker):
    monkeypatch.setattr(supervisor_module, "ORPHAN_SECONDS", 0.5)
    dashboard = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    left = start_worker("--watch-parent", str(dashboard.pid))
    wait_until(store.workers)
    os.kill(left.pid, signal.SIGSTOP)
    dashboard.kill()
    dashboard.communicate()
    supervisor = supervise()
    assert left.wait(60) == -signal.SIGKILL
    run_id = store.submit(specification("3"))
    wait_until(lambda: store.get(run_id).status == "done")
    assert supervisor.state().pid != left.pid


def test_a_worker_whose_dashboard_lives_is_left_alone(store, supervise, monkeypatch, start_worker):
    monkeypatch.setattr(supervisor_module, "ORPHAN_SECONDS", 0.1)
    other = start_worker("--watch-parent", str(os.getpid()))
    wait_until(store.workers)
    supervise()
    run_id = store.submit(specification("3"))
    wait_until(lambda: store.get(run_id).status == "done")
    time.sleep(1.0)
    assert other.poll() is None


@sqlite_only
def test_a_worker_whose_store_is_damaged_ends_with_its_dashboard(store, tmp_path, start_worker):
    dashboard = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    worker = start_worker("--watch-parent", str(dashboard.pid))
    wait_until(store.workers)
    store.close()
    (tmp_path / "runs.db").write_bytes(b"no database" * 1000)
    dashboard.kill()
    dashboard.communicate()
    worker.wait(60)
