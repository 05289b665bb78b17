"""Work in the background: its result, its error, and leaving it."""

from __future__ import annotations

import threading

import pytest

from relens.runs.background import Background, Left


def never() -> bool:
    return False


def test_the_waiting_thread_gets_the_result():
    work = Background(lambda: 7)
    assert work.wait(never) == 7
    assert work.is_finished
    assert work.wait(never) == 7


def test_the_waiting_thread_gets_the_error():
    def fail() -> int:
        raise KeyError("no")

    with pytest.raises(KeyError):
        Background(fail).wait(never)


def test_work_that_is_left_goes_on_and_can_be_waited_for_again():
    may_end = threading.Event()
    looks: list[bool] = []

    def work() -> str:
        may_end.wait()
        return "done"

    background = Background(work)
    with pytest.raises(Left):
        background.wait(lambda: len(looks) >= 2, lambda: looks.append(True))
    assert len(looks) == 2
    assert not background.is_finished
    may_end.set()
    assert background.wait(never) == "done"
