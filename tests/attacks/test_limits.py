"""What a run may use has a ceiling, whoever described it and by whatever way it came."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import time
import tracemalloc

import psutil
import pytest

from relens.errors import RelensError
from relens.query import Limits
from relens.runs.run_file import read_run
from relens.runs.specification import StudySpecification, specification_from_json
from relens.runs.store import Store
from tests.attacks import made
from tests.attacks.server import ROOT, Target, attacked, compilers, processes_of, wait_until

#: Its deterministic automaton has 2^40 states: whoever compiles it runs into a limit.
HOSTILE = "(a|b)*a(a|b){40}"
#: What the file of a run asks for: eleven days and 12 GB.
BOUNDLESS = {"compile_seconds": 1e6, "compile_bytes": 12 << 30}
#: What compiling one hostile pattern may take, the wait for a process to be killed and started anew included, seconds.
COMPILING = Limits.compile_seconds + 10.0


@pytest.fixture
def store(tmp_path):
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    yield store
    store.close()


def ended(store, run_id):
    run = store.get(run_id)
    return run is not None and not run.is_live


def is_compiling(store, run_id):
    run = store.get(run_id)
    assert run.is_live, f"the run was {run.status}: {run.error}"
    return run.stage == "compiling"


def is_used(process, beyond=1.0):
    """Whether a process has computed for longer than it takes to start one."""
    with contextlib.suppress(psutil.Error):
        return process.cpu_times().user > beyond
    return False


def hostile_run(target: Target) -> str:
    """A run out of a hostile file, at work in the worker's compiler."""
    there = made.take_in(target.store, made.run_file(made.search(HOSTILE, target.model, **BOUNDLESS)))
    run_id = target.store.repeat(there)
    wait_until(lambda: is_compiling(target.store, run_id), "compiling")
    time.sleep(1.0)
    return run_id


# ------------------------------------------------------------------------------------------- of compilation


def test_an_imported_run_cannot_raise_the_limits_of_compilation(store, tiny):
    there = made.take_in(store, made.run_file(made.search(HOSTILE, tiny, **BOUNDLESS)))
    for run_id in (there, store.repeat(there)):
        limits = store.get(run_id).specification["limits"]
        assert limits["compile_seconds"] <= Limits.compile_seconds
        assert limits["compile_bytes"] <= Limits.compile_bytes


def test_a_limit_of_an_imported_run_cannot_be_switched_off(store, tiny):
    off = made.search("a", tiny, seconds=None, expansions=None, matches=None)
    run = store.get(store.repeat(made.take_in(store, made.run_file(off))))
    limits = run.specification["limits"]
    assert 0 < limits["seconds"] <= 86_400
    assert 0 < limits["expansions"] <= 10_000_000


@pytest.mark.slow
def test_a_run_that_another_program_wrote_is_compiled_within_the_usual_limits(own_target):
    with own_target() as target:
        target.warm()
        planted = made.plant(target.store, made.search(HOSTILE, target.model, **BOUNDLESS))
        run_id = target.store.repeat(planted)
        largest = 0
        give_up = time.monotonic() + COMPILING + 10.0
        while not ended(target.store, run_id) and time.monotonic() < give_up:
            for process in compilers(target):
                with contextlib.suppress(psutil.Error):
                    largest = max(largest, process.memory_info().rss)
            time.sleep(0.1)
        run = target.store.get(run_id)
        assert run.status == "failed", f"after {COMPILING + 10:.0f} s it is {run.status} ({run.stage})"
        assert run.error.startswith("Compiling")
        assert largest < 2.6 * 2**30


@pytest.mark.slow
def test_nothing_of_a_stopped_run_goes_on_compiling(own_target):
    with own_target() as target:
        target.warm()
        run_id = hostile_run(target)
        wait_until(lambda: any(map(is_used, compilers(target))), "a compiler at work")
        busy = [process for process in compilers(target) if is_used(process)]
        target.store.request_stop(run_id)
        _, left = psutil.wait_procs(busy, timeout=2.0 + 1.0)  # the pulse of the worker hears of it within the second
        assert not left, "the compiler of a stopped run is still there"


@pytest.mark.slow
def test_stopped_hostile_runs_do_not_hold_up_an_ordinary_search(own_target):
    with own_target() as target:
        target.warm()
        ordinary = specification_from_json(made.search("The (cat|dog)", target.model))
        begun = time.monotonic()
        alone = target.store.submit(ordinary)
        wait_until(lambda: ended(target.store, alone), "an ordinary search")
        usual = time.monotonic() - begun
        for _ in range(2):
            target.store.request_stop(hostile_run(target))
        begun = time.monotonic()
        run_id = target.store.submit(ordinary)
        wait_until(lambda: ended(target.store, run_id), "the search after two stopped ones", usual + 8.0)
        assert target.store.get(run_id).status == "done"
        assert time.monotonic() - begun < usual + 8.0


@pytest.mark.slow
def test_a_server_that_is_ended_while_it_compiles_leaves_nothing(own_target):
    with own_target() as target:
        target.warm()
        hostile_run(target)
        target.end()
        wait_until(lambda: not target.processes(), "the end of all processes", 10.0)


@pytest.mark.slow
def test_after_a_killed_server_a_new_one_has_a_working_worker(tiny, tmp_path):
    folder = tmp_path / "own"

    def search_is_done(target: Target, patience: float) -> float:
        """How long it takes until a page is open and a search is done, seconds."""
        begun = time.monotonic()
        with target.visitor() as visitor:
            visitor.open("history")
            run_id = target.store.submit(specification_from_json(made.search("The (cat|dog)", tiny)))
            wait_until(lambda: ended(target.store, run_id), "a search of the new server", patience)
        assert target.store.get(run_id).status == "done"
        return time.monotonic() - begun

    with attacked(folder, tiny) as first:
        usual = search_is_done(first, 120.0)
        first.warm()
        hostile_run(first)
        first.end(signal.SIGKILL)
        old = {process.pid for process in processes_of(folder)}
        with attacked(folder, tiny) as second:
            assert search_is_done(second, usual + 15.0) < usual + 15.0
            assert not old & {process.pid for process in processes_of(folder)}


@pytest.mark.slow
def test_a_search_from_python_ends_within_its_own_limits(tiny):
    """Default limits are 10 s and 2 GiB of compilation; the process that asks and all its children are measured."""
    program = (
        "import sys, time, json\n"
        "from relens import Query, load_model, search\n"
        "from relens.errors import LimitError\n"
        "model = load_model(sys.argv[1])\n"
        "next(iter(search(model, Query('a'))))\n"
        "begun = time.monotonic()\n"
        "print('begun', flush=True)\n"
        "try:\n"
        "    next(iter(search(model, Query('[ab]*a[ab]{30}'))), None)\n"
        "    ending = 'found'\n"
        "except LimitError as error:\n"
        "    ending = error.limit\n"
        "print(json.dumps([ending, time.monotonic() - begun]), flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, tiny], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            own = psutil.Process(process.pid)
            before, largest = _memory_of(own), 0
            give_up = time.monotonic() + Limits.compile_seconds + 10.0
            while process.poll() is None and time.monotonic() < give_up:
                largest = max(largest, _memory_of(own))
                time.sleep(0.05)
            assert process.poll() is not None, "it went on for longer than its limit of time"
            ending, seconds = json.loads(process.stdout.readline())
        finally:
            for left in psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []:
                left.kill()
            process.kill()
    assert ending in ("compile_seconds", "compile_bytes", "automaton_states")
    assert seconds < Limits.compile_seconds + 5.0
    assert largest - before < 2.5 * 2**30


def _memory_of(process: psutil.Process) -> int:
    total = 0
    with contextlib.suppress(psutil.Error):
        for each in (process, *process.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                total += each.memory_info().rss
    return total


# ------------------------------------------------------------------------------------------ of what is described


def test_a_study_with_millions_of_pieces_is_refused_before_any_is_made(store, tiny):
    """10,000 targets and 1,000 seeds are 23 kB of file and ten million pieces of work."""
    targets = [f"target {number}" for number in range(10_000)]
    data = made.run_file(made.study("causal-triggers", tiny, targets=targets, seeds=1_000))

    def units_of_the_file() -> None:
        # Whether the file is taken in or not, nobody makes the pieces.
        run = store.get(made.take_in(store, data))
        StudySpecification.from_json(run.specification).study.units()

    begun = time.process_time()
    with pytest.raises(RelensError):
        units_of_the_file()
    seconds = time.process_time() - begun
    tracemalloc.start()
    try:
        with pytest.raises(RelensError) as refused:
            units_of_the_file()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "\n" not in refused.value.sentence
    assert seconds < 1.0
    assert most < 100 << 20


LARGE = {
    "a pattern of a million characters": {"query": {"pattern": "a" * 990_000}},
    "a list of a million words": {"query": {"pattern": "a", "exclude": {"words": ["a"] * 1_000_000}}},
    "texts of three million characters": {"query": {"pattern": "a", "exclude": {"words": ["ab" * 5_000] * 300}}},
    "a number of 400 digits": {"query": {"pattern": "a", "max_tokens": 10**400}},
}


@pytest.mark.parametrize("part", LARGE.values(), ids=LARGE)
def test_a_search_that_is_described_at_length_is_refused_in_a_moment(store, tiny, part):
    data = made.run_file({"kind": "search", "model": tiny, **part})
    begun = time.process_time()
    with pytest.raises(RelensError):
        made.take_in(store, data)
    assert time.process_time() - begun < 1.5


def test_the_verdict_of_a_file_is_not_drawn_for_ever(store, tiny):
    """Reading a file of a study draws its verdict; as many rows as a file may have must not take minutes."""
    rows = [{"unit": "structured", "row": "match", "text": f"{number}", "log_prob": -1.0} for number in range(100_000)]
    data = made.run_file(made.study("knowledge", tiny), rows)
    begun = time.process_time()
    with contextlib.suppress(RelensError):
        read_run(data)
    assert time.process_time() - begun < 10.0
