"""A file of a run is read elsewhere, under limits, and its run is in the store; or it is refused, and nothing is."""

from __future__ import annotations

import dataclasses
import gzip

import psutil
import pytest

from relens.errors import LimitError, QueryError
from relens.runs import intake
from relens.runs.intake import take_in_deck, take_in_run
from relens.runs.run_file import write_run
from relens.runs.screens import Screen, ScreenStore
from tests.engine.runs.fakes import match, specification


@pytest.fixture
def file(store):
    run_id = store.submit(specification("2"))
    run = dataclasses.replace(store.get(run_id), status="done")
    return write_run(run, [match(number).to_json() for number in (1, 2)])


def test_a_run_comes_from_a_file_into_the_store_and_no_process_stays(store, file):
    before = {child.pid for child in psutil.Process().children()}
    run_id = take_in_run(file, store.url)
    assert store.get(run_id).origin is not None
    assert [row["text"] for row in store.rows(run_id)] == ["text 1", "text 2"]
    assert {child.pid for child in psutil.Process().children()} <= before


@pytest.mark.parametrize("data", [b"", b"no file of a run", gzip.compress(b"{}\n", mtime=0)])
def test_another_file_is_refused_with_its_sentence(store, data):
    with pytest.raises(QueryError, match="no file of a run"):
        take_in_run(data, store.url)
    assert store.count() == 0


def test_a_file_that_takes_too_much_is_given_up(store, file, monkeypatch):
    monkeypatch.setattr(intake, "MEMORY_BYTES", 8 << 20)
    with pytest.raises(LimitError, match="Reading the file needed more than 8 MiB"):
        take_in_run(gzip.compress(b" " * (64 << 20), mtime=0), store.url)
    assert store.count() == 1  # the run that the file was made of


def test_a_deck_comes_from_a_file_onto_a_deck(store):
    screens = ScreenStore(store.url)
    screens.add(Screen(title="It is so", sentences=("One finding.",)))
    file = screens.export().encode()
    assert take_in_deck(file, store.url, "Monday") == 1
    assert take_in_deck(file, store.url, "Monday") == 0
    assert [screen.title for screen in screens.all("Monday")] == ["It is so"]
    with pytest.raises(QueryError, match="not JSON"):
        take_in_deck(b"{", store.url, "Monday")
    screens.close()
