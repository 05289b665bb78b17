"""Checks of settings in the background: a short wait, and one child at a time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from relens.errors import QueryError
from relens.runs.study_checks import Checked
from relens.studies.knowledge import KnowledgeStudy
from relens.studies.memorization import MemorizationStudy
from relens_dashboard.study_check import StudyCheck

QUICK, SLOW = KnowledgeStudy(), MemorizationStudy()


class SlowChecker:
    """Counts 3 units, for `SLOW` only after its release; records simultaneous checks."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.now, self.most = 0, 0

    def check(self, study) -> Checked:
        self.now += 1
        self.most = max(self.most, self.now)
        if study == SLOW:
            assert self.go.wait(30)
        self.now -= 1
        if study == QUICK:
            return Checked(3)
        raise QueryError("This has no meaning.")


@pytest.fixture
def counter():
    made = SlowChecker()
    yield made
    made.go.set()


@pytest.fixture
def executor():
    with ThreadPoolExecutor(4) as made:
        yield made


def test_units_and_errors_come_back(counter, executor):
    check = StudyCheck(counter, executor)
    assert check.check(QUICK) == Checked(3)
    with pytest.raises(QueryError, match="no meaning"):
        check.check(KnowledgeStudy(prompt="Other"))


def test_a_page_does_not_wait_for_long_and_takes_one_child_at_a_time(counter, executor):
    check = StudyCheck(counter, executor)
    assert check.check(SLOW, wait=0.05) is None
    assert check.check(QUICK, wait=0.05) is None, "the other one is still being worked on"
    assert StudyCheck(counter, executor).check(QUICK) == Checked(3), "which holds up no other session"
    assert counter.most == 2
    counter.go.set()
    assert check.check(QUICK) == Checked(3)


def test_a_waiting_check_is_cancelled_for_the_newest(counter):
    with ThreadPoolExecutor(1) as executor:
        assert StudyCheck(counter, executor).check(SLOW, wait=0.01) is None
        check = StudyCheck(counter, executor)
        assert check.check(SLOW, wait=0.01) is None
        assert check.check(QUICK, wait=0.01) is None
        counter.go.set()
        assert check.check(QUICK) == Checked(3)
    assert counter.most == 1
