"""A worker's end comes when it is due, in good order where that is possible, and by force where it is not."""

from __future__ import annotations

import threading

import pytest

from relens.runs import ending as ending_module
from relens.runs.ending import Ending


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(ending_module, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(ending_module, "GRACE_SECONDS", 0.3)


def test_an_orderly_end_is_not_forced():
    due, requested, forced = threading.Event(), threading.Event(), threading.Event()
    ending = Ending(due.is_set, requested.set, forced.set)
    ending.start()
    due.set()
    assert requested.wait(10)
    ending.close()
    ending.join(10)
    assert not ending.is_alive()
    assert not forced.is_set()


def test_a_process_that_does_not_end_is_forced():
    requested, forced = threading.Event(), threading.Event()
    ending = Ending(lambda: False, requested.set, forced.set)
    ending.start()
    ending.begin()
    assert requested.is_set()
    assert forced.wait(10)
    ending.join(10)


def test_nothing_happens_before_it_is_due():
    requested, forced = threading.Event(), threading.Event()
    ending = Ending(lambda: False, requested.set, forced.set)
    ending.start()
    ending.close()
    ending.join(10)
    assert not requested.is_set()
    assert not forced.is_set()
