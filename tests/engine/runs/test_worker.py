"""The life of runs in a worker with fake services: in a thread, where one can look inside, and in real processes."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from relens.errors import StoreError
from relens.query import Distribution, Sampling
from relens.runs.lock import ANOTHER_WORKER
from relens.runs.specification import InspectSpecification, specification_from_json
from relens.runs.store import Store
from relens.runs.worker import Worker
from tests.engine.runs.conftest import sqlite_only
from tests.engine.runs.fakes import match, specification
from tests.engine.runs.helpers import wait_until

pytestmark = pytest.mark.heavy


def status(store, run_id):
    return store.get(run_id).status


def ends(store, run_id):
    wait_until(lambda: not store.get(run_id).is_live)
    return store.get(run_id)


def test_a_search_is_carried_out(store, worker):
    run = ends(store, store.submit(specification("7")))
    assert (run.status, run.error, run.row_count, run.stage) == ("done", None, 7, "")
    assert (run.progress["matches"], run.progress["ended"]) == (7, "exhausted")
    assert store.rows(run.id) == [{**match(n).to_json(), "token_ids": [n], "number": n} for n in range(1, 8)]
    assert (run.model_fingerprint, run.worker_id) == ("0123abcd", worker.id)
    assert set(run.versions) == {"relens", "python", "torch", "transformers"}
    assert "unknown" not in run.versions.values()
    assert run.device["memory_bytes"] > 0


@pytest.mark.parametrize(
    ("script", "traversal", "ended"),
    [("draw", Sampling(count=60, seed=3), "drawn"), ("settle", Distribution(tolerance=0.01), "tolerance")],
)
def test_a_sample_and_a_distribution_are_done_when_they_end_by_themselves(store, worker, script, traversal, ended):
    run = ends(store, store.submit(specification(script, traversal=traversal)))
    assert (run.status, run.row_count, run.progress["ended"]) == ("done", 3, ended)
    again = ends(store, store.repeat(run.id))
    assert specification_from_json(again.specification).traversal == traversal
    assert store.rows(again.id) == store.rows(run.id)
    assert [row["count"] for row in store.rows(run.id)] == ([10, 20, 30] if script == "draw" else [1, 1, 1])


def test_the_model_is_kept_for_the_next_run_and_replaced_for_another(store, worker, services):
    for model in ("one", "one", "two", "one"):
        assert ends(store, store.submit(specification("1", model))).status == "done"
    assert services.loaded == ["one", "two", "one"]
    assert services.reclaimed == 2
    wait_until(lambda: store.workers()[0].model == "one")
    assert store.workers()[0].device == "cpu"


def test_a_model_that_is_refused_does_not_cost_the_loaded_one(store, worker, services):
    for model, status_then in (("one", "done"), ("missing", "failed"), ("one", "done")):
        assert ends(store, store.submit(specification("1", model))).status == status_then
    assert services.loaded == ["one"]


def test_the_likely_model_is_loaded_before_the_first_run(store, services):
    services.likely = "slow"
    worker = Worker(store, services)
    thread = threading.Thread(target=worker.serve, daemon=True)
    thread.start()
    services.may_load.set()
    wait_until(lambda: services.loaded == ["slow"])
    wait_until(lambda: [worker.model for worker in store.workers()] == ["slow"])
    assert ends(store, store.submit(specification("1", "slow"))).status == "done"
    assert services.loaded == ["slow"]
    worker.end()
    thread.join(20)


@pytest.mark.parametrize(
    ("pattern", "model", "sentence"),
    [
        ("1", "missing", "There is no model called 'missing'."),
        ("1", "broken", "The model 'broken' has no weights."),
        ("refuse", "fake", "This query has no meaning."),
        ("memory", "fake", "There was not enough memory for this run."),
        (
            "bug",
            "fake",
            "Something went wrong inside Relens (ZeroDivisionError); the worker's log has the particulars.",
        ),
    ],
)
def test_a_failure_is_a_sentence_and_the_next_run_finds_a_worker(store, worker, pattern, model, sentence):
    run = ends(store, store.submit(specification(pattern, model)))
    assert (run.status, run.error) == ("failed", sentence)
    assert ends(store, store.submit(specification("2"))).status == "done"


@pytest.mark.parametrize(
    ("pattern", "model", "stage"),
    [
        ("forever", "fake", "searching"),
        ("quiet", "fake", "searching"),
        ("hard", "fake", "compiling"),
        ("1", "slow", "loading the model: reading the weights"),
    ],
)
def test_stop_is_heard_at_every_stage(store, worker, pattern, model, stage):
    run_id = store.submit(specification(pattern, model))
    wait_until(lambda: store.get(run_id).stage == stage)
    if pattern == "forever":
        wait_until(lambda: store.get(run_id).row_count >= 3)
    store.request_stop(run_id)
    run = ends(store, run_id)
    assert (run.status, run.error) == ("stopped", None)
    assert len(store.rows(run_id)) == run.row_count
    # The worker is free, whatever goes on in the thread that was left.
    if model == "fake":
        assert ends(store, store.submit(specification("2"))).status == "done"


def test_a_model_whose_run_was_stopped_is_not_loaded_twice(store, worker, services):
    left = store.submit(specification("1", "slow"))
    wait_until(lambda: store.get(left).stage_fraction == 0.5)
    store.request_stop(left)
    ends(store, left)
    again = store.submit(specification("1", "slow"))
    wait_until(lambda: store.get(again).stage.startswith("loading"))
    services.may_load.set()
    assert ends(store, again).status == "done"
    assert services.loaded == ["slow"]


def test_another_model_waits_for_a_load_that_was_left(store, worker, services):
    left = store.submit(specification("1", "slow"))
    wait_until(lambda: store.get(left).stage_fraction == 0.5)
    store.request_stop(left)
    ends(store, left)
    other = store.submit(specification("1", "fake"))
    wait_until(lambda: "slow" in store.get(other).stage)
    services.may_load.set()
    assert ends(store, other).status == "done"
    assert services.loaded == ["slow", "fake"]
    assert services.reclaimed == 1


def test_an_inspection_is_answered_in_the_midst_of_a_search(store, worker):
    search = store.submit(specification("forever"))
    wait_until(lambda: store.get(search).row_count)
    accident = store.submit(InspectSpecification("fake", (13,)))
    looked_at = store.submit(InspectSpecification("fake", (5, 6)))
    other_model = store.submit(InspectSpecification("other", (5,)))
    assert ends(store, looked_at).status == "done"
    assert [row["token_id"] for row in store.rows(looked_at)] == [5, 6]
    assert "ZeroDivisionError" in ends(store, accident).error
    assert (status(store, search), status(store, other_model)) == ("running", "queued")
    store.request_stop(search)
    assert ends(store, search).status == "stopped"
    assert ends(store, other_model).status == "done"


def test_a_deleted_run_frees_the_worker(store, worker):
    run_id = store.submit(specification("forever"))
    wait_until(lambda: store.get(run_id).row_count)
    store.delete(run_id)
    assert ends(store, store.submit(specification("2"))).status == "done"


def test_end_marks_the_present_run(store, worker):
    run_id = store.submit(specification("forever"))
    wait_until(lambda: store.get(run_id).row_count)
    worker.end()
    run = ends(store, run_id)
    assert run.status == "interrupted"
    assert "ended before the run was done" in run.error
    assert len(store.rows(run_id)) == run.row_count
    wait_until(lambda: store.workers() == [])


def test_a_store_that_refuses_for_a_moment_loses_nothing(store, worker, monkeypatch):
    append, refusals = Store.append, iter([True, False, True, True, False, False, True])

    def refusing(self, *arguments):
        if next(refusals, False):
            raise StoreError("The store is locked.")
        append(self, *arguments)

    monkeypatch.setattr(Store, "append", refusing)
    monkeypatch.setattr("relens.runs.patience.RETRY_SECONDS", 0.01)
    run_id = store.submit(specification("forever"))
    wait_until(lambda: store.get(run_id).row_count >= 5)
    store.request_stop(run_id)
    run = ends(store, run_id)
    assert run.status == "stopped"
    assert [row["log_prob"] for row in store.rows(run_id)] == [-float(n) for n in range(1, run.row_count + 1)]
    assert run.progress["matches"] == run.row_count


def test_a_stage_that_cannot_be_written_fails_no_run(store, worker, monkeypatch):
    report = Store.report

    def refusing(self, run_id, **values):
        if "stage" in values:
            raise StoreError("The store is locked.")
        report(self, run_id, **values)

    monkeypatch.setattr(Store, "report", refusing)
    run = ends(store, store.submit(specification("2")))
    assert (run.status, run.error, run.row_count) == ("done", None, 2)


def test_a_dead_accelerator_ends_the_worker(store, worker):
    run = ends(store, store.submit(specification("cuda")))
    assert run.status == "failed"
    wait_until(lambda: store.workers() == [])


def test_a_full_disk_fails_the_run_when_that_can_be_written(store, worker, monkeypatch):
    full = True

    def refuse(*arguments):
        if full:
            raise StoreError("The disk is full.")

    finish = Store.finish
    monkeypatch.setattr(Store, "append", refuse)
    monkeypatch.setattr(Store, "finish", lambda self, *arguments: refuse() or finish(self, *arguments))
    monkeypatch.setattr("relens.runs.patience.PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr("relens.runs.worker.STORE_REST_SECONDS", 0.02)
    run_id = store.submit(specification("3"))
    wait_until(lambda: store.get(run_id).stage == "searching")
    time.sleep(0.2)
    assert status(store, run_id) == "running"
    full = False
    run = ends(store, run_id)
    assert (run.status, run.error) == ("failed", "The disk is full.")
    monkeypatch.undo()
    assert ends(store, store.submit(specification("2"))).status == "done"


# ------------------------------------------------------------------------------------------------------- processes


def test_a_killed_worker_loses_no_written_row_and_the_next_one_goes_on(store, start_worker):
    first = start_worker()
    run_id = store.submit(specification("forever"))
    waiting = store.submit(specification("2"))
    wait_until(lambda: store.get(run_id).row_count >= 10)
    first.send_signal(signal.SIGKILL)
    first.wait()
    rows = store.rows(run_id)
    assert status(store, run_id) == "running"
    start_worker()
    run = ends(store, run_id)
    assert (run.status, run.row_count) == ("interrupted", len(rows))
    assert store.rows(run_id) == rows
    assert [row["number"] for row in rows] == list(range(1, len(rows) + 1))
    assert run.progress["matches"] == len(rows)
    assert ends(store, waiting).status == "done"
    again = store.repeat(run_id)
    wait_until(lambda: store.get(again).row_count)
    store.request_stop(again)
    assert ends(store, again).status == "stopped"


def test_sigterm_ends_a_worker_in_good_order(store, start_worker):
    process = start_worker()
    run_id = store.submit(specification("forever"))
    wait_until(lambda: store.get(run_id).row_count)
    process.terminate()
    assert process.wait(20) == 0
    assert status(store, run_id) == "interrupted"
    assert store.workers() == []


def test_a_second_worker_steps_back(store, start_worker):
    start_worker()
    wait_until(store.workers)
    assert start_worker().wait(20) == ANOTHER_WORKER
    assert ends(store, store.submit(specification("2"))).status == "done"


@sqlite_only
def test_a_worker_ends_with_the_process_it_belongs_to(store, start_worker):
    parent = start_worker("--store", f"{store.url}.other")
    child = start_worker("--watch-parent", str(parent.pid))
    run_id = store.submit(specification("forever"))
    wait_until(lambda: store.get(run_id).row_count)
    parent.kill()
    assert child.wait(20) == 0
    assert status(store, run_id) == "interrupted"


def test_a_run_that_never_ends_is_ended_at_so_many_rows(store, worker, monkeypatch):
    monkeypatch.setattr("relens.runs.searching.LONGEST_RUN", 5)
    run = ends(store, store.submit(specification("forever")))
    assert run.status == "failed"
    assert "A run ends at 5 rows; these are kept." in run.error
    assert 5 <= run.row_count == len(store.rows(run.id))
