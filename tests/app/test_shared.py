"""Shared objects are made once, whatever threads and browsers do, and closed when replaced."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import streamlit as st

from relens.errors import StoreError
from relens.runs.store import Store
from relens_dashboard.learn.sources import get_lessons, get_texts, lesson_source, text_source
from relens_dashboard.learn.walk_page import walk_answers
from relens_dashboard.services import Services, get_services
from relens_dashboard.shared import Shared, shared
from tests.app.fakes import FakePreviewer, FakeSupervisor


class Owned:
    """An owner of a process that must be ended."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def test_it_is_made_once_however_many_come_first():
    made = []

    @shared
    def slow():
        made.append(Owned())
        time.sleep(0.1)
        return made[-1]

    with ThreadPoolExecutor(8) as threads:
        results = [future.result() for future in [threads.submit(slow) for _ in range(8)]]
    assert len(made) == 1
    assert all(one is made[0] for one in results)


def test_a_failed_object_is_tried_again():
    trials = iter([StoreError("The disk is full."), Owned()])

    @shared
    def store():
        trial = next(trials)
        if isinstance(trial, StoreError):
            raise trial
        return trial

    with pytest.raises(StoreError, match="full"):
        store()
    assert store() is store()


def test_a_replaced_object_is_closed_once():
    door = shared(Owned)
    first = door()
    other = Owned()
    door.replace(other)
    door.replace(other)
    assert (first.closed, other.closed) == (1, 0)
    assert door() is other
    door.replace()
    assert other.closed == 1
    assert door() not in (first, other)


@pytest.mark.parametrize("door", [get_services, get_lessons, get_texts, walk_answers])
def test_emptying_the_caches_of_streamlit_makes_nothing_anew(door):
    assert isinstance(door, Shared)
    owned = Owned()
    door.replace(owned)
    try:
        st.cache_resource.clear()
        st.cache_data.clear()
        assert door() is owned
        assert not owned.closed
    finally:
        door.replace()


def test_closed_services_have_no_worker_no_previews_and_no_threads(tmp_path):
    supervisor, previewer = FakeSupervisor(), FakePreviewer()
    services = Services(Store(f"sqlite:///{tmp_path / 'runs.db'}"), supervisor, previewer)
    services.close()
    assert supervisor.stopped
    assert previewer.closed
    for threads in (services.threads, services.drawers):
        with pytest.raises(RuntimeError):
            threads.submit(print)


@pytest.mark.parametrize("source", [lesson_source, text_source])
def test_a_closed_source_has_no_processes_and_no_threads(source):
    owned = Owned()
    closed = source(owned)
    closed.close()
    assert owned.closed == 1
    with pytest.raises(RuntimeError):
        closed.threads.submit(print)
