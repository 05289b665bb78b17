"""The worker: stopped, orphaned, killed, out of time, crowded out. Somebody else's search is done all the same."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time

import psutil
import pytest

from relens.errors import LimitError, StoreError
from relens.runs.specification import InspectSpecification, specification_from_json
from relens.runs.store import Store
from tests.attacks import made
from tests.attacks.server import ROOT, Target, command_of, damage, is_answered, processes_of, settle, wait_until


def search(model: str, pattern: str = "The (cat|dog)"):
    return specification_from_json(made.search(pattern, model))


def workers(target: Target) -> list[psutil.Process]:
    return [process for process in target.processes() if "relens.runs.worker" in command_of(process)]


def done(target: Target, run_id: str) -> bool:
    return target.store.get(run_id).status == "done"


@pytest.fixture
def store(tmp_path):
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    yield store
    store.close()


# -------------------------------------------------------------------------------------------------- its death


@pytest.mark.slow
def test_a_worker_that_stands_still_is_replaced_within_a_minute(own_target):
    with own_target() as target:
        target.warm()
        (still,) = workers(target)
        still.suspend()
        run_id = target.store.submit(search(target.model))
        with target.visitor() as visitor:
            begun = time.monotonic()
            while not done(target, run_id):
                visitor.open("history")
                time.sleep(0.5)
                assert time.monotonic() - begun < 60.0 + 15.0, "a worker that stands still was not replaced"
        assert [process.pid for process in workers(target)] != [still.pid]
        wait_until(lambda: not still.is_running(), "the end of the worker that stood still", 10.0)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["ended", "killed"])
def test_a_worker_that_cannot_report_ends_with_its_server(own_target, how):
    with own_target() as target:
        target.warm()
        (first,) = workers(target)
        first.suspend()
        damage(target, "workers", "heartbeat")
        first.kill()
        with target.visitor() as visitor:
            visitor.open("")
            # The next one finds a database in which it cannot report.
            wait_until(lambda: [process for process in workers(target) if process.pid != first.pid], "the next worker")
            time.sleep(3.0)
        target.end(how)
        wait_until(lambda: not target.processes(), "the end of all processes", 20.0)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_outlives_its_server(own_target, how):
    with own_target() as target:
        target.warm()
        assert len(target.processes()) > 3
        target.end(how)
        wait_until(lambda: not target.processes(), "the end of all processes", 10.0)


@pytest.mark.slow
def test_a_worker_that_is_killed_again_and_again_leaves_no_process(own_target):
    with own_target() as target:
        target.warm()
        settle(target)
        before = len(target.processes())
        with target.visitor() as visitor:
            for _ in range(3):
                (worker,) = workers(target)
                run_id = target.store.submit(search(target.model, "[a-z ]{40}"))
                wait_until(lambda run_id=run_id: target.store.get(run_id).status != "queued", "the run")
                worker.kill()
                visitor.open("history")
                wait_until(lambda worker=worker: [one for one in workers(target) if one != worker], "the next worker")
            run_id = target.store.submit(search(target.model))
            wait_until(lambda: done(target, run_id), "the search after three killed workers")
        settle(target)
        assert len(target.processes()) <= before
        server = psutil.Process(target.process.pid)
        assert [each for each in server.children(recursive=True) if each.status() == psutil.STATUS_ZOMBIE] == []


# ----------------------------------------------------------------------------------------------------- its clock


REPORTING = """
import sys
from relens.runs.store import Store
store = Store(sys.argv[1])
store.heartbeat("worker", "idle")
run = store.claim("worker")
store.report(run.id, stage="searching")
print("reported", flush=True)
sys.stdin.read()
"""


def shift(path: str, seconds: float) -> None:
    """What the clock's being set does to what was written before."""
    with sqlite3.connect(path, timeout=30.0) as connection:
        connection.execute("UPDATE workers SET heartbeat = heartbeat + ?", (seconds,))
    connection.close()


@pytest.mark.parametrize("hours", [-24, -1, 1, 24])
def test_a_run_whose_worker_lives_is_not_given_up_when_the_clock_is_set(store, tmp_path, hours):
    run_id = store.submit(search("m"))
    worker = subprocess.Popen(
        [sys.executable, "-c", REPORTING, store.url], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert worker.stdout.readline() == b"reported\n"
        shift(str(tmp_path / "runs.db"), 3600.0 * hours)
        assert store.mark_interrupted() == []
        assert store.get(run_id).status == "running"
    finally:
        worker.stdin.close()
        worker.wait(20)
        worker.stdout.close()
    # And given up as soon as it is gone, whatever the clock says.
    assert store.mark_interrupted() == [run_id]


# ----------------------------------------------------------------------------------------------------- its queue


def test_an_inspection_is_taken_where_the_queue_is_full(store, monkeypatch):
    monkeypatch.setenv("RELENS_QUEUE", "4")
    for number in range(4):
        store.submit(search("m", f"a{number}"))
    with pytest.raises(LimitError):
        store.submit(search("m", "more"))
    opened = store.submit(InspectSpecification("m", (1, 2)))
    assert store.claim("worker").id == opened


def test_one_visitor_cannot_take_the_whole_queue(store, monkeypatch):
    monkeypatch.setenv("RELENS_QUEUE", "8")
    for number in range(4):
        store.submit(search("m", f"a{number}"), session="greedy")
    with pytest.raises(LimitError):
        store.submit(search("m", "one too many"), session="greedy")
    assert store.submit(search("m"), session="modest")


@pytest.mark.slow
def test_one_visitor_cannot_take_the_whole_queue_by_pressing_run(own_target):
    with own_target(environment={"RELENS_QUEUE": "8"}) as target:
        # Nobody serves the queue: the lock of the worker is held here.
        from relens.runs.lock import WorkerLock

        with WorkerLock(target.store_url) as lock:
            assert lock.acquire()
            with target.visitor() as greedy:
                greedy.open("workbench", f"pattern=The+cat&model={target.model}")
                greedy.look_until(lambda: is_answered(greedy), "a preview")
                greedy.press("run_button")
                for _ in range(12):
                    if greedy.has("stop_button"):
                        greedy.open("workbench", f"pattern=The+cat&model={target.model}")
                        greedy.look_until(lambda: is_answered(greedy), "a preview")
                    greedy.press("run_button")
                assert greedy.exceptions() == []
            assert target.store.queue().waiting <= 4
            with target.visitor() as modest:
                modest.open("workbench", f"pattern=The+dog&model={target.model}")
                modest.look_until(lambda: is_answered(modest), "a preview")
                before = target.store.queue().waiting
                modest.press("run_button")
                assert target.store.queue().waiting == before + 1


# ----------------------------------------------------------------------------------------------------- its store

WRITING = """
import sys
from relens.runs.specification import specification_from_json
from relens.runs.store import Store
from tests.attacks import made
store, number = Store(sys.argv[1]), sys.argv[2]
for turn in range(10):
    run_id = store.import_run(made.read_run(made.run_file(made.search("a", "m"))))
    store.rename(run_id, f"{number} {turn}")
    assert store.get(run_id).name == f"{number} {turn}"
    store.find("a", limit=10)
"""


@pytest.mark.slow
def test_ten_programs_write_and_read_one_store(store, tmp_path):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITING, store.url, str(number)], cwd=ROOT, stderr=subprocess.PIPE)
        for number in range(10)
    ]
    names: set[str] = set()
    while any(writer.poll() is None for writer in writers):
        names |= {run.name for run in store.find(limit=1_000)}
        time.sleep(0.05)
    for writer in writers:
        _, complaint = writer.communicate()
        assert writer.returncode == 0, complaint.decode()[-2000:]
    assert len({run.name for run in store.find(limit=1_000)} - {""}) == 100


LIMITED = """
import resource, sys
from relens.errors import StoreError
from relens.runs.run_file import read_run
from relens.runs.store import Store
from tests.attacks import made
store = Store(sys.argv[1])
kept = store.import_run(read_run(made.run_file(made.search("a", "m"), [made.match_row(1)])))
store.close()
# No file may grow beyond this: what a write to a full disk looks like to a program.
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
sentence = ""
try:
    rows = [made.match_row(n, "x" * 500) for n in range(5000)]
    store.import_run(read_run(made.run_file(made.search("a", "m"), rows)))
except StoreError as error:
    sentence = error.sentence
assert "disk" in sentence, sentence
assert [run.id for run in store.find()] == [kept]
assert len(store.rows(kept)) == 1
print("kept")
"""


def test_a_full_disk_is_a_sentence_and_loses_nothing_that_was_kept(store):
    store.close()
    ended = subprocess.run([sys.executable, "-c", LIMITED, store.url], cwd=ROOT, capture_output=True, timeout=120)
    assert ended.stdout == b"kept\n", ended.stderr.decode()[-2000:]
    with pytest.raises(StoreError):
        Store(f"sqlite:///{os.devnull}/runs.db")


def test_nothing_is_left_of_what_is_attacked_here(target):
    """The census itself: it sees the server and what it has started, and nothing of another folder."""
    found = {process.pid for process in processes_of(target.folder)}
    assert target.process.pid in found
    assert len(found) > 3
    assert processes_of(target.folder / "other") == []
