"""The line about worker, device and queue: its words in each state, and escaped reports."""

from __future__ import annotations

from dataclasses import replace

from relens.runs.records import QueueState, WorkerRecord
from relens.runs.supervisor import WorkerState
from relens_dashboard.components.status import status_html

STATE = WorkerState(alive=True, starting=False, restarts=0, last_exit=None, pid=7, log="worker.log")
WORKER = WorkerRecord(
    id="w", host="here", pid=7, state="idle", model="smollm2-135m", device="cpu", heartbeat=0.0, extra={}, alive=True
)
EMPTY = QueueState(waiting=0, running=0)


def test_a_worker_that_is_ready():
    line = status_html(STATE, WORKER, EMPTY)
    assert "Ready" in line
    assert "smollm2-135m" in line
    assert "empty" in line


def test_a_store_that_cannot_be_written_comes_first():
    trouble = "The store of runs cannot be written: the disk is full."
    assert trouble in status_html(replace(STATE, trouble=trouble), WORKER, EMPTY)
    assert "Ready" not in status_html(replace(STATE, trouble=trouble), WORKER, EMPTY)


def test_no_worker():
    state = replace(STATE, alive=False, last_exit="ended by SIGKILL")
    assert "No worker is running: ended by SIGKILL" in status_html(state, None, EMPTY)
    assert "starting again" in status_html(replace(state, starting=True, restarts=1), None, EMPTY)


def test_a_workers_report_is_text():
    assert "<b>" not in status_html(STATE, replace(WORKER, model="<b>x</b>"), QueueState(waiting=2, running=1))
