from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from relens.errors import EmptyLanguageError, LimitError, RegexError, RelensError, StoppedError
from relens.language.compile import compile_language
from relens.language.isolation import IsolatedPool, IsolatedProcess, default_compiler, isolated_compiler
from relens.query import Edits, Exclude, Limits, Query
from tests.engine.language.languages import assert_same

pytestmark = pytest.mark.heavy

JOB = "tests.engine.language.jobs:job"
ROOT = Path(__file__).parents[3]
HOSTILE = "[ab]*a[ab]{60}"


@pytest.fixture(scope="module")
def process() -> Iterator[IsolatedProcess]:
    shared = IsolatedProcess(JOB, warm_up="tests.engine.language.jobs:warm_up", seconds=60)
    yield shared
    shared.close()


@pytest.fixture(scope="module")
def compiler():
    shared = isolated_compiler(2)
    yield shared
    shared.close()


def is_gone(process_id: int) -> bool:
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


def wait_until(condition) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen within half a minute")


def test_values_and_arrays_go_there_and_back(process: IsolatedProcess):
    assert process.call({"text": "é \ud800 \x00"}) == {"echo": "é \ud800 \x00"}
    arrays = {"table": np.arange(600_000, dtype=np.int32).reshape(300, 2000), "odd": np.array([1.5, -2.0, 3.25]),
              "none": np.zeros((0, 4)), "small": np.array([3], np.uint8)}  # fmt: skip
    doubled = process.call({"do": "double", **arrays})
    assert doubled.keys() == arrays.keys()
    for name, array in arrays.items():
        assert doubled[name].dtype == array.dtype
        assert np.array_equal(doubled[name], array * 2)


def test_the_child_is_warm_nice_and_in_a_session_of_its_own(process: IsolatedProcess):
    first, second = process.call({"do": "facts"}), process.call({"do": "facts"})
    assert first == second
    assert first["warmed"] == 1
    assert first["session"] == first["pid"] == process.process_id != os.getpid()
    assert first["nice"] > os.nice(0)


def test_errors_keep_their_class_and_fields(process: IsolatedProcess):
    with pytest.raises(RegexError, match=r"^Wrong, at position 3 of the prefix\.$") as caught:
        process.call({"do": "regex error"})
    assert (caught.value.source, caught.value.position, caught.value.part) == ("a\ud800(", 3, "prefix")
    with pytest.raises(EmptyLanguageError, match=r"^No string.$"):
        process.call({"do": "empty"})
    with pytest.raises(LimitError) as limited:
        process.call({"do": "limit"})
    assert limited.value.limit == "token_arcs"
    with pytest.raises(RuntimeError, match="a bug of ours"):
        process.call({"do": "bug"})


def test_stray_output_and_input_do_no_harm(process: IsolatedProcess):
    before = process.call({"do": "facts"})["pid"]
    process.call({"do": "print"})
    assert process.call({"do": "read"}) == {"read": ""}
    assert process.call({"do": "facts"})["pid"] == before


@pytest.mark.parametrize("way", ["die", "exit"])
def test_a_crash_is_one_sentence_and_the_next_call_works(process: IsolatedProcess, way: str):
    before = process.process_id
    with pytest.raises(RelensError, match=r"^Compiling failed, because its process ended .*; please try again\.$"):
        process.call({"do": way})
    assert process.call({"text": "again"}) == {"echo": "again"}
    assert process.process_id != before


def test_a_child_that_died_while_idle_is_replaced(process: IsolatedProcess):
    process.call({})
    before = process.process_id
    os.kill(before, signal.SIGKILL)
    wait_until(lambda: is_gone(before))
    assert process.call({"text": "hello"}) == {"echo": "hello"}


def test_a_child_killed_in_mid_call(process: IsolatedProcess, tmp_path: Path):
    file = tmp_path / "pid"

    def kill_when_busy() -> None:
        wait_until(lambda: file.exists() and file.read_text())
        os.kill(int(file.read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill_when_busy)
    killer.start()
    with pytest.raises(RelensError, match="ended unexpectedly"):
        process.call({"do": "announce and sleep", "seconds": 60, "file": str(file)})
    killer.join()
    assert process.call({"text": "hello"}) == {"echo": "hello"}


def test_too_late_is_a_limit_and_ends_the_child(process: IsolatedProcess):
    process.call({})
    before = process.process_id
    with pytest.raises(LimitError, match=r"^Compiling took longer than 0.2 s and was stopped\.$") as caught:
        process.call({"do": "sleep", "seconds": 60}, seconds=0.2)
    assert caught.value.limit == "compile_seconds"
    assert is_gone(before)
    assert process.call({"text": "hello"}) == {"echo": "hello"}


def test_too_much_memory_is_a_limit(process: IsolatedProcess):
    assert process.call({"do": "eat", "bytes": 50 << 20}, memory_bytes=200 << 20) == {"size": 50 << 20}
    with pytest.raises(LimitError, match=r"^Compiling needed more than 200 MiB of memory") as caught:
        process.call({"do": "eat", "bytes": 300 << 20}, memory_bytes=200 << 20)
    assert caught.value.limit == "compile_bytes"
    assert process.call({"do": "eat", "bytes": 300 << 20}, memory_bytes=400 << 20) == {"size": 300 << 20}


def test_a_target_that_cannot_be_imported_is_a_bug_and_no_hang():
    broken = IsolatedProcess("tests.engine.language.jobs:no_such_job")
    with pytest.raises(RuntimeError, match="no_such_job"):
        broken.call({})
    broken.close()


def test_a_closed_process_takes_no_call():
    closed = IsolatedProcess(JOB)
    process_id = closed.process_id
    closed.close()
    assert is_gone(process_id)
    with pytest.raises(RuntimeError, match="closed"):
        closed.call({})


@pytest.mark.parametrize("busy", [False, True])
def test_the_child_dies_with_its_parent(tmp_path: Path, busy: bool):
    file = tmp_path / "pid"
    script = (
        "import threading, sys, time; from relens.language.isolation import IsolatedProcess\n"
        f"process = IsolatedProcess({JOB!r}); process.call({{}})\n"
        f"if {busy}:\n"
        f"    job = {{'do': 'announce and sleep', 'seconds': 600, 'file': {str(file)!r}}}\n"
        "    threading.Thread(target=process.call, args=(job, 600), daemon=True).start()\n"
        f"else:\n    open({str(file)!r}, 'w').write(str(process.process_id))\n"
        "time.sleep(600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT)
    try:
        wait_until(lambda: file.exists() and file.read_text())
    finally:
        parent.kill()
        parent.wait()
    wait_until(lambda: is_gone(int(file.read_text())))


def test_a_child_outlives_the_thread_that_first_called_it():
    lasting: list[IsolatedProcess] = []

    def first_use() -> None:
        lasting.append(IsolatedProcess(JOB))
        lasting[0].call({})

    thread = threading.Thread(target=first_use)
    thread.start()
    thread.join()
    before = lasting[0].process_id
    assert lasting[0].call({"do": "facts"})["pid"] == before
    lasting[0].close()


def test_a_pool_grows_only_when_it_must_and_serves_everybody():
    pool = IsolatedPool(JOB, 3, seconds=60)
    alone = {pool.call({"do": "facts"})["pid"] for _ in range(5)}
    assert len(alone) == 1
    answers: list[str] = []

    def call(number: int) -> None:
        answers.append(pool.call({"text": str(number)})["echo"])

    threads = [threading.Thread(target=call, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers, key=int) == [str(number) for number in range(10)]
    pool.close()
    with pytest.raises(RuntimeError, match="closed"):
        pool.call({})


def test_a_hostile_pattern_holds_up_no_other_call(compiler):
    events: list[str] = []
    begun = threading.Event()

    def hostile() -> None:
        begun.set()
        with pytest.raises(LimitError) as caught:
            compiler(Query(HOSTILE), Limits(compile_seconds=4.0, compile_bytes=8 << 30))
        events.append(caught.value.limit)

    thread = threading.Thread(target=hostile)
    thread.start()
    begun.wait()
    for number in range(5):
        assert compiler(Query(f"b{{{number}}}", prefix="a")).whole.accepts("a" + "b" * number)
        events.append("easy")
    thread.join()
    assert events == ["easy"] * 5 + ["compile_seconds"]


def test_a_memory_bomb_is_refused(compiler):
    with pytest.raises(LimitError) as caught:
        compiler(Query(HOSTILE), Limits(compile_bytes=100 << 20, compile_seconds=60.0))
    assert caught.value.limit == "compile_bytes"
    assert compiler(Query("b", prefix="a")).whole.accepts("ab")


QUERIES = [
    Query("a|b"),
    Query(r" \w{1,3}", prefix="The (cat|dog)"),
    Query("(ab)*", prefix="é*"),
    Query(" sat", prefix="The (cat|dog)", edits=Edits(2, alphabet="[a-z€]")),
    Query("cat|dog|the", exclude=Exclude(stop_words=True)),
    Query("[ab]{60}", prefix="x", edits=Edits(1, "prefix"), exclude=Exclude(regex="[ab]*a[ab]{30}")),
]


def test_isolated_and_direct_compiling_agree(compiler):
    for query in QUERIES:
        assert_same(compiler(query, Limits()), compile_language(query))
    assert compiler(QUERIES[-1]).excluded is not None
    for query, part in [
        (Query("a(?=b)"), "pattern"),
        (Query("a", edits=Edits(1, alphabet="[a]{2}")), "alphabet"),
        (Query("a", exclude=Exclude(regex="a(?=b)")), "exclude"),
    ]:
        with pytest.raises(RegexError) as caught:
            compiler(query, Limits())
        assert caught.value.part == part
        assert caught.value.position == (0 if part == "alphabet" else 1)
    with pytest.raises(EmptyLanguageError):
        compiler(Query(r"[^\s\S]"), Limits())
    with pytest.raises(EmptyLanguageError, match="excluded"):
        compiler(Query("a", exclude=Exclude(regex="a")), Limits())


def test_hostile_edits_are_stopped(compiler):
    with pytest.raises(LimitError, match="took longer than 1 s and was stopped"):
        compiler(Query("[a-z]{1,40}x(ab|cd|ef){20}", edits=Edits(2)), Limits(compile_seconds=1.0))
    assert compiler(Query("b", prefix="a")).whole.accepts("ab")


def call_in_a_thread(callable_process, payload, **more) -> tuple[threading.Thread, list[BaseException]]:
    raised: list[BaseException] = []

    def call() -> None:
        try:
            callable_process.call(payload, **more)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    return thread, raised


def busy_child(file: Path) -> int:
    wait_until(lambda: file.exists() and file.read_text())
    return int(file.read_text())


def test_a_stop_ends_the_child_in_mid_call(process: IsolatedProcess, tmp_path: Path):
    file, stopped = tmp_path / "pid", threading.Event()
    job = {"do": "announce and sleep", "seconds": 600, "file": str(file)}
    thread, raised = call_in_a_thread(process, job, seconds=600, stop=stopped.is_set)
    child = busy_child(file)
    assert not is_gone(child)
    stopped.set()
    thread.join(10)
    assert [type(error) for error in raised] == [StoppedError]
    assert is_gone(child)
    assert process.call({"text": "hello"}, stop=lambda: False) == {"echo": "hello"}


def test_a_stop_ends_the_wait_for_a_free_process(tmp_path: Path):
    pool = IsolatedPool(JOB, 1, seconds=600)
    file, stopped = tmp_path / "pid", threading.Event()
    job = {"do": "announce and sleep", "seconds": 600, "file": str(file)}
    first, _ = call_in_a_thread(pool, job)
    child = busy_child(file)
    second, raised = call_in_a_thread(pool, {}, stop=stopped.is_set)
    stopped.set()
    second.join(10)
    assert [type(error) for error in raised] == [StoppedError]
    assert not is_gone(child)
    pool.close()
    first.join(10)
    assert is_gone(child)


def test_closing_ends_a_busy_child_at_once(tmp_path: Path):
    busy = IsolatedProcess(JOB, seconds=600)
    file = tmp_path / "pid"
    thread, raised = call_in_a_thread(busy, {"do": "announce and sleep", "seconds": 600, "file": str(file)})
    child = busy_child(file)
    busy.close()
    thread.join(10)
    assert not thread.is_alive()
    assert is_gone(child)
    assert [type(error) for error in raised] == [RelensError]
    with pytest.raises(RuntimeError, match="closed"):
        busy.call({})


def test_all_children_of_a_program_can_be_ended_together(tmp_path: Path):
    script = (
        "import sys, threading, time; from relens.language.child import kill_children\n"
        "from relens.language.isolation import IsolatedProcess\n"
        f"idle, busy = IsolatedProcess({JOB!r}), IsolatedProcess({JOB!r}); idle.call({{}}); busy.call({{}})\n"
        f"job = {{'do': 'announce and sleep', 'seconds': 600, 'file': {str(tmp_path / 'pid')!r}}}\n"
        "threading.Thread(target=busy.call, args=(job, 600), daemon=True).start()\n"
        "print(idle.process_id, busy.process_id, flush=True); sys.stdin.readline()\n"
        "kill_children(); print('killed', flush=True); sys.stdin.readline()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        children = [int(text) for text in parent.stdout.readline().split()]
        busy_child(tmp_path / "pid")
        parent.stdin.write("\n")
        parent.stdin.flush()
        assert parent.stdout.readline() == "killed\n"
        wait_until(lambda: all(map(is_gone, children)))
    finally:
        parent.kill()
        parent.communicate()


def test_limits_hold_with_the_default_compiler():
    with pytest.raises(LimitError, match="took longer than 1 s"):
        default_compiler()(Query(HOSTILE), Limits(compile_seconds=1.0))
    with pytest.raises(LimitError, match="100 MiB"):
        default_compiler()(Query(HOSTILE), Limits(compile_bytes=100 << 20, compile_seconds=60.0))
    assert default_compiler()(Query("b", prefix="a"), Limits()).whole.accepts("ab")


def test_a_child_compiles_by_itself(process: IsolatedProcess):
    assert process.call({"do": "name the compiler"}) == {"compiler": "compile_language"}
