"""A pool whose jobs can sleep, fail and die on request."""

from __future__ import annotations

import os
import threading
import time

import pytest

from relens.errors import LimitError, QueryError, RelensError
from relens.language.isolation import IsolatedPool

MEMORY = 1 << 30


def job(payload):
    """Runs in the child."""
    word = payload.get("word", "")
    if word == "sleep":
        time.sleep(60)
    if word == "refuse":
        raise QueryError("No.")
    if word == "die":
        os._exit(9)
    if word == "bug":
        raise ZeroDivisionError
    return {"pid": os.getpid(), "word": word}


@pytest.fixture
def pool():
    pool = IsolatedPool(f"{__name__}:job", 2, spare=True)
    yield pool
    pool.close()


def ask(pool, word, seconds=30.0):
    return pool.call({"word": word}, seconds, MEMORY)


def test_a_warm_child_is_used_again(pool):
    first = ask(pool, "a")
    assert first["word"] == "a"
    assert first["pid"] != os.getpid()
    with pytest.raises(QueryError, match="No"):
        ask(pool, "refuse")


def test_a_call_after_a_killed_job_does_not_wait_for_the_new_child(pool):
    """With one of two children asleep until it is killed, the other answers everything in the meantime."""
    events: list[str] = []

    def sleep() -> None:
        with pytest.raises(LimitError, match="2 s"):
            ask(pool, "sleep", seconds=2.0)
        events.append("killed")

    ask(pool, "a")
    thread = threading.Thread(target=sleep)
    thread.start()
    for _ in range(5):
        ask(pool, "a")
    events.append("answered")
    thread.join()
    assert events == ["answered", "killed"]
    assert ask(pool, "a")["word"] == "a"


@pytest.mark.parametrize(("word", "error"), [("die", RelensError), ("bug", RuntimeError)])
def test_a_child_that_dies_is_replaced(pool, word, error):
    for _ in range(3):
        with pytest.raises(error):
            ask(pool, word)
    assert ask(pool, "a")["word"] == "a"


def test_many_callers_share_few_children(pool):
    pids: list[int] = []
    threads = [threading.Thread(target=lambda: pids.append(ask(pool, "a")["pid"])) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pids) == 12
    assert len(set(pids)) <= 2


def test_a_closed_pool_refuses(pool):
    ask(pool, "a")
    pool.close()
    with pytest.raises(RuntimeError, match="closed"):
        ask(pool, "a")


def test_a_pool_has_a_process():
    with pytest.raises(ValueError):
        IsolatedPool("os:getcwd", 0)
