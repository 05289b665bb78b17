"""The store against a model of it in plain Python, and against everything that goes wrong around it."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import sqlalchemy as sql
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.pool import Pool

from relens.errors import LimitError, QueryError, StoreError
from relens.query import Decoding, Query
from relens.runs.ceilings import within_ceilings
from relens.runs.database import workers_table
from relens.runs.specification import InspectSpecification, SearchSpecification, specification_to_json
from relens.runs.store import Store
from tests.engine.runs.conftest import ROOT, sqlite_only
from tests.engine.runs.fakes import specification
from tests.engine.runs.helpers import dead_pid
from tests.examples import examples


def inspection(model: str = "fake") -> InspectSpecification:
    return InspectSpecification(model=model, token_ids=(1, 2), decoding=Decoding(top_k=3))


# ------------------------------------------------------------------------------------------------- life of a run


def test_a_run_from_the_queue_to_its_end(store):
    submitted = specification("a")
    run_id = store.submit(submitted)
    waiting = store.get(run_id)
    assert (waiting.status, waiting.kind, waiting.model) == ("queued", "search", "fake")
    assert waiting.specification == specification_to_json(within_ceilings(submitted))
    assert waiting.is_live
    assert waiting.started is None
    assert store.queue_position(run_id) == 1

    store.heartbeat("w", "idle")
    claimed = store.claim("w")
    assert (claimed.id, claimed.status, claimed.worker_id) == (run_id, "running", "w")
    assert claimed.started >= claimed.created
    assert store.queue_position(run_id) is None

    store.report(run_id, stage="loading the model", stage_fraction=0.5, versions={"relens": "1"})
    assert (store.get(run_id).stage, store.get(run_id).stage_fraction) == ("loading the model", 0.5)
    store.report(run_id, model_fingerprint="f00")
    assert store.get(run_id).stage == "loading the model"
    store.report(run_id, stage="searching")
    assert store.get(run_id).stage_fraction is None

    store.append(run_id, [{"text": "x"}, {"text": "y"}], {"matches": 2}, {"cpu_percent": 5.0})
    store.append(run_id, [], {"matches": 2})
    store.append(run_id, [{"text": "z"}], None)
    store.finish(run_id, "done")
    done = store.get(run_id)
    assert (done.status, done.row_count, done.progress, done.stage) == ("done", 3, {"matches": 2}, "")
    assert (done.model_fingerprint, done.versions, done.device) == ("f00", {"relens": "1"}, {"cpu_percent": 5.0})
    assert done.ended >= done.started
    assert not done.is_live
    assert store.rows(run_id) == [{"text": text, "number": number} for number, text in enumerate("xyz", 1)]
    assert [row["text"] for row in store.rows(run_id, after=1)] == ["y", "z"]
    assert [row["text"] for row in store.rows(run_id, after=1, limit=1)] == ["y"]


def test_an_unknown_id_has_no_run(store):
    assert store.get("nothing") is None
    assert store.rows("nothing") == []
    assert store.queue_position("nothing") is None
    assert store.stop_requested("nothing")
    store.request_stop("nothing")
    store.delete("nothing")
    with pytest.raises(QueryError, match="'nothing'"):
        store.repeat("nothing")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(50))
@given(st.lists(st.lists(st.dictionaries(st.text().filter("number".__ne__), JSON, max_size=4), max_size=4), max_size=4))
def test_rows_come_back_as_they_were_written(store, batches):
    run_id = store.submit(specification("a"))
    store.claim("w")
    for batch in batches:
        store.append(run_id, batch, {})
    rows = [row for batch in batches for row in batch]
    assert store.rows(run_id) == [{**row, "number": number} for number, row in enumerate(rows, 1)]
    assert store.get(run_id).row_count == len(rows)
    store.finish(run_id, "done")


def test_texts_and_numbers_that_databases_dislike_come_back(store):
    run_id = store.submit(SearchSpecification("fake", Query("\0\ud800é😀")))
    store.claim("w")
    store.append(run_id, [{"text": "\0\ud800é😀", "log_prob": -math.inf}], {"text": "\0"})
    assert store.rows(run_id) == [{"text": "\0\ud800é😀", "log_prob": -math.inf, "number": 1}]
    assert store.get(run_id).specification["query"]["pattern"] == "\0\ud800é😀"


# --------------------------------------------------------------------------------------------------------- queue


def test_the_queue_is_served_in_order_and_inspections_first(store):
    first, second = store.submit(specification("a")), store.submit(specification("b"))
    looked_at = store.submit(inspection())
    other = store.submit(inspection("other"))
    assert [store.queue_position(run) for run in (first, second, looked_at)] == [1, 2, 1]
    assert (store.queue().waiting, store.queue().running) == (2, 0)
    assert store.claim("w", kinds=("inspect",), model="other").id == other
    assert [store.claim("w").id for _ in range(3)] == [looked_at, first, second]
    assert store.claim("w") is None
    assert (store.queue().waiting, store.queue().running) == (0, 2)


def test_too_many_waiting_runs_are_refused(store, monkeypatch):
    monkeypatch.setenv("RELENS_QUEUE", "2")
    store.submit(specification("a"))
    store.submit(specification("a"))
    with pytest.raises(LimitError, match="2 runs are waiting") as refusal:
        store.submit(specification("a"))
    assert refusal.value.limit == "RELENS_QUEUE"
    store.claim("w")
    store.submit(specification("a"))


def test_a_description_that_is_too_large_is_refused(store):
    with pytest.raises(LimitError, match="1,000,000 characters"):
        store.submit(specification("a" * 1_000_000))
    assert store.find() == []


def test_concurrent_claims_in_threads_and_processes_give_each_run_once(store, url, monkeypatch):
    monkeypatch.setenv("RELENS_QUEUE", "100")
    runs = [store.submit(specification("a")) for _ in range(60)]
    script = (
        "import sys; from relens.runs.store import Store; store = Store(sys.argv[1]); sys.stdin.readline()\n"
        "while (run := store.claim('process')) is not None: print(run.id)"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, url], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    claimed: list[str] = []

    def claim() -> None:
        own = Store(url)
        while (run := own.claim("thread")) is not None:
            claimed.append(run.id)
        own.close()

    threads = [threading.Thread(target=claim) for _ in range(6)]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for process in processes:
        claimed += process.communicate()[0].split()
        assert process.returncode == 0
    assert sorted(claimed) == sorted(runs)


def test_concurrent_submits_do_not_pass_the_limit(store, url, monkeypatch):
    monkeypatch.setenv("RELENS_QUEUE", "5")
    outcomes: list[bool] = []

    def submit() -> None:
        own = Store(url)
        for _ in range(4):
            try:
                own.submit(specification("a"))
                outcomes.append(True)
            except LimitError:
                outcomes.append(False)
        own.close()

    threads = [threading.Thread(target=submit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (outcomes.count(True), outcomes.count(False)) == (5, 11)


def test_readers_see_whole_batches_while_a_worker_writes(store, url):
    run_id = store.submit(specification("a"))
    store.claim("w")
    done = threading.Event()
    torn: list[object] = []

    def read() -> None:
        own = Store(url)
        while not done.is_set():
            progress, rows = own.get(run_id).progress, own.rows(run_id)
            numbers = [row["number"] for row in rows]
            # Read a moment later than the progress, the rows can only be ahead of it, and by whole batches.
            if numbers != list(range(1, len(rows) + 1)) or len(rows) % 5 or len(rows) < progress.get("rows", 0):
                torn.append((progress, numbers))
        own.close()

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for batch in range(1, 101):
        store.append(run_id, [{"batch": batch}] * 5, {"rows": 5 * batch})
    done.set()
    for reader in readers:
        reader.join()
    assert not torn
    assert len(store.rows(run_id)) == 500


# ------------------------------------------------------------------------------------- stop, repeat, delete, dead


def test_stop_ends_a_waiting_run_at_once_and_asks_a_running_one(store):
    running, waiting = store.submit(specification("a")), store.submit(specification("b"))
    store.claim("w")
    assert not store.stop_requested(running)
    store.request_stop(running)
    store.request_stop(waiting)
    assert store.get(waiting).status == "stopped"
    assert store.get(running).status == "running"
    assert store.stop_requested(running)
    assert store.claim("w") is None
    store.finish(running, "stopped")
    assert store.get(running).status == "stopped"


def test_an_ended_run_stays_as_it_ended(store):
    run_id = store.submit(specification("a"))
    store.claim("w")
    store.append(run_id, [{"text": "x"}], {"matches": 1})
    store.finish(run_id, "failed", "It could not be.")
    store.append(run_id, [{"text": "y"}], {"matches": 2})
    store.finish(run_id, "done")
    store.report(run_id, stage="searching")
    run = store.get(run_id)
    assert (run.status, run.error, run.row_count, run.stage) == ("failed", "It could not be.", 1, "")
    assert store.stop_requested(run_id)
    with pytest.raises(ValueError):
        store.finish(run_id, "running")


def test_repeat_submits_the_same_again(store):
    run_id = store.submit(specification("a"))
    store.claim("w")
    store.finish(run_id, "done")
    again = store.repeat(run_id)
    assert again != run_id
    assert store.get(again).specification == store.get(run_id).specification
    assert store.get(again).status == "queued"


def test_a_deleted_run_leaves_nothing_and_its_worker_leaves_it(store):
    run_id = store.submit(specification("a"))
    store.claim("w")
    store.append(run_id, [{"text": "x"}], {})
    store.delete(run_id)
    assert store.stop_requested(run_id)
    store.append(run_id, [{"text": "y"}], {})
    assert store.get(run_id) is None
    assert store.rows(run_id) == []


def as_another(store, worker_id, **changes):
    """Change what a worker has reported, as if it were another process on another machine or long ago."""
    engine = sql.create_engine(store.url)
    with engine.begin() as connection:
        connection.execute(workers_table.update().where(workers_table.c.id == worker_id).values(**changes))
    engine.dispose()


@pytest.mark.parametrize("death", ["process gone", "silent for long", "unknown"])
def test_the_run_of_a_dead_worker_is_interrupted_and_keeps_its_rows(store, death, monkeypatch):
    run_id, other = store.submit(specification("a")), store.submit(specification("b"))
    store.heartbeat("w", "running")
    store.heartbeat("alive", "running")
    store.claim("w")
    store.claim("alive")
    store.append(run_id, [{"text": "x"}], {"matches": 1})
    assert store.mark_interrupted() == []
    if death == "process gone":
        as_another(store, "w", pid=dead_pid())
    elif death == "silent for long":
        as_another(store, "w", host="elsewhere")
        assert store.mark_interrupted() == []
        monkeypatch.setattr("relens.runs.leases.STALE_SECONDS", 0.0)
    else:
        store.forget_worker("w")
    assert store.mark_interrupted() == [run_id]
    run = store.get(run_id)
    assert (run.status, run.row_count, run.progress) == ("interrupted", 1, {"matches": 1})
    assert "rows so far are kept" in run.error
    assert store.get(other).status == "running"
    assert [worker.id for worker in store.workers()] == ["alive"]


def test_the_process_of_a_worker_elsewhere_is_not_looked_for_here(store):
    store.submit(specification("a"))
    store.heartbeat("w", "running")
    store.claim("w")
    as_another(store, "w", host="elsewhere", pid=dead_pid())
    assert store.workers()[0].alive
    assert store.mark_interrupted() == []


@pytest.mark.parametrize("hours", [-1.0, 1.0, 24_000.0])
def test_a_clock_that_is_set_interrupts_no_run(store, monkeypatch, hours):
    run_id = store.submit(specification("a"))
    store.heartbeat("w", "running")
    store.claim("w")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3600.0 * hours)
    assert [worker.alive for worker in store.workers()] == [True]
    assert store.mark_interrupted() == []
    as_another(store, "w", host="elsewhere")
    assert store.mark_interrupted() == []
    assert store.get(run_id).status == "running"


def test_heartbeats_have_the_state_of_a_worker(store):
    store.heartbeat("w", "starting")
    store.heartbeat("w", "idle", "fake", "cpu", {"cpu_percent": 3.0})
    (worker,) = store.workers()
    assert (worker.id, worker.pid, worker.state, worker.model, worker.device, worker.extra, worker.alive) == (
        "w",
        os.getpid(),
        "idle",
        "fake",
        "cpu",
        {"cpu_percent": 3.0},
        True,
    )


def test_old_inspections_are_forgotten_and_searches_are_not(store):
    search, looked_at = store.submit(specification("a")), store.submit(inspection())
    for run_id in (looked_at, search):
        store.claim("w")
        store.finish(run_id, "done")
    store.forget_inspections(older_than=60.0)
    assert store.get(looked_at) is not None
    store.forget_inspections(older_than=-1.0)
    assert store.get(looked_at) is None
    assert store.get(search) is not None


# ------------------------------------------------------------------------------------------------- what goes wrong


@sqlite_only
def test_a_full_disk_is_a_sentence_and_loses_nothing(store):
    run_id = store.submit(specification("a"))
    store.claim("w")
    store.append(run_id, [{"text": "kept"}], {"matches": 1})
    store.close()

    def shrink(connection: sqlite3.Connection, _record: object) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages + 1}")

    sql.event.listen(Pool, "connect", shrink)
    with pytest.raises(StoreError, match=r"^The disk that holds the store of runs \(.*runs.db\) is full\.$"):
        store.append(run_id, [{"text": "x" * 100_000}], {"matches": 2})
    store.check_writable()
    assert store.get(run_id).progress == {"matches": 1}
    assert [row["text"] for row in store.rows(run_id)] == ["kept"]

    sql.event.remove(Pool, "connect", shrink)
    store.close()
    store.append(run_id, [{"text": "x" * 100_000}], {"matches": 2})
    assert store.get(run_id).row_count == 2


@sqlite_only
def test_a_locked_store_is_a_sentence_and_reading_goes_on(store, tmp_path, monkeypatch):
    monkeypatch.setattr("relens.runs.database.BUSY_SECONDS", 0.05)
    impatient = Store(store.url)
    run_id = impatient.submit(specification("a"))
    locker = sqlite3.connect(tmp_path / "runs.db", isolation_level=None)
    locker.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="is locked by another program"):
        impatient.submit(specification("b"))
    with pytest.raises(StoreError, match="is locked by another program"):
        impatient.check_writable()
    assert impatient.get(run_id).status == "queued"
    locker.execute("ROLLBACK")
    locker.close()
    impatient.submit(specification("b"))
    impatient.close()


@sqlite_only
def test_a_writer_waits_for_its_turn(store, tmp_path):
    locker = sqlite3.connect(tmp_path / "runs.db", isolation_level=None, check_same_thread=False)
    locker.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.3, lambda: locker.execute("ROLLBACK"))
    timer.start()
    assert store.submit(specification("a"))
    timer.join()
    locker.close()


@sqlite_only
@pytest.mark.parametrize(
    ("contents", "complaint"),
    [(b"this is not a database, whatever its name says" * 50, "not a database"), (None, "could not be opened")],
)
def test_a_file_that_is_no_database_is_a_sentence(tmp_path, contents, complaint):
    path = tmp_path / "other.db"
    if contents is None:
        path = tmp_path / "no folder" / "other.db"
    else:
        path.write_bytes(contents)
    with pytest.raises(StoreError, match=complaint):
        Store(f"sqlite:///{path}")


@sqlite_only
def test_tables_of_another_version_are_refused(store, tmp_path):
    store.close()
    with sqlite3.connect(tmp_path / "runs.db") as connection:
        connection.execute("UPDATE relens_schema SET version = 99")
    connection.close()
    with pytest.raises(StoreError, match="version 99"):
        Store(store.url)


@pytest.mark.parametrize("url", ["nonsense", "nosuch://x/y", "sqlite+nosuch:///x"])
def test_a_bad_address_is_refused(url):
    with pytest.raises(StoreError, match="not a database URL"):
        Store(url)


def test_an_unreachable_server_is_a_sentence_without_the_password():
    with pytest.raises(StoreError, match="cannot be reached") as refusal:
        Store("postgresql://relens:secret@127.0.0.1:1/runs")
    assert "secret" not in str(refusal.value)


def test_the_default_store_is_in_the_cache_folder():
    store = Store()
    store.submit(specification("a"))
    store.close()
    assert (Path(os.environ["RELENS_CACHE"]) / "runs.db").exists() or os.environ.get("RELENS_TEST_POSTGRES")


@sqlite_only
def test_rows_are_plain_json_for_other_programs(store, tmp_path):
    run_id = store.submit(specification("a"))
    store.claim("w")
    store.append(run_id, [{"text": "é"}], {})
    with sqlite3.connect(tmp_path / "runs.db") as connection:
        ((data,),) = connection.execute("SELECT data FROM rows").fetchall()
    connection.close()
    assert json.loads(data) == {"text": "é"}


def test_one_session_takes_half_of_the_queue_at_most(store, monkeypatch):
    monkeypatch.setenv("RELENS_QUEUE", "4")
    mine = [store.submit(specification("1"), "mine") for _ in range(2)]
    with pytest.raises(LimitError, match="2 runs of this browser window are waiting already"):
        store.submit(specification("1"), "mine")
    with pytest.raises(LimitError, match="browser window"):
        store.repeat(mine[0], "mine")
    store.submit(specification("1"), "another")
    store.submit(specification("1"))  # a program has no share, but the whole queue bounds it
    with pytest.raises(LimitError, match="4 runs are waiting already"):
        store.submit(specification("1"), "another")
    store.request_stop(mine[0])
    store.submit(specification("1"), "mine")


def test_a_match_can_be_opened_while_the_queue_is_full(store, monkeypatch):
    monkeypatch.setenv("RELENS_QUEUE", "2")
    for _ in range(2):
        store.submit(specification("1"))
    looked_at = [store.submit(InspectSpecification("fake", (1, 2)), "mine") for _ in range(1)]
    assert store.queue_position(looked_at[0]) == 1
    with pytest.raises(LimitError, match="share of the queue"):
        store.submit(InspectSpecification("fake", (1, 2)), "mine")
    store.submit(InspectSpecification("fake", (1, 2)), "another")
    with pytest.raises(LimitError, match="2 runs are waiting already"):
        store.submit(InspectSpecification("fake", (1, 2)), "a third")
