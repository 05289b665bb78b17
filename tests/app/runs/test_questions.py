"""The question of a run is read once, and cut to the room of a list."""

from __future__ import annotations

import time
from weakref import WeakKeyDictionary

import pytest

from relens.query import Query
from relens.runs.database import runs_table as runs_of_database
from relens.runs.database import to_text
from relens.runs.specification import SearchSpecification, StudySpecification, specification_to_json
from relens.studies.bias import BiasStudy
from relens_dashboard.runs import questions
from relens_dashboard.runs.listed import runs_table
from relens_dashboard.runs.questions import titles


def old_run(store, pattern):
    """A run of an old store, whose pattern may have any length."""
    run_id = store.submit(SearchSpecification("m", Query("a")))
    specification = specification_to_json(SearchSpecification("m", Query("a")))
    specification["query"]["pattern"] = pattern
    with store._database.writing() as connection:
        connection.execute(
            runs_of_database.update()
            .where(runs_of_database.c.id == run_id)
            .values(specification=to_text(specification))
        )
    return run_id


def table(store):
    runs = store.listed(limit=25)
    return runs_table(runs, titles(store, runs))


def test_a_list_of_long_patterns_is_drawn_at_once(store):
    for _ in range(25):
        old_run(store, "(a|b)\n" * 165_000)
    begun = time.thread_time()
    shown = table(store)
    assert time.thread_time() - begun < 0.3
    assert list(shown["Run"]) == [("(a|b)↵" * 15)[:89] + "…"] * 25


def test_a_question_is_read_once_and_a_name_at_every_drawing(store, monkeypatch):
    run = store.submit(SearchSpecification("m", Query("cats")))
    store.submit(StudySpecification("m", BiasStudy(draws=12)))
    assert list(table(store)["Run"]) == ["Bias (draws 12)", "cats"]
    monkeypatch.setattr(store, "specification", lambda run_id: pytest.fail("It is known already."))
    assert list(table(store)["Run"]) == ["Bias (draws 12)", "cats"]
    store.rename(run, "Mine")
    assert list(table(store)["Run"]) == ["Bias (draws 12)", "Mine"]
    store.rename(run, "")
    assert list(table(store)["Run"]) == ["Bias (draws 12)", "cats"]


def test_a_line_has_at_most_its_length(store):
    old_run(store, "x" * 500)
    store.rename(store.submit(SearchSpecification("m", Query("a"))), "y" * 100)
    runs = store.listed()
    assert titles(store, runs, 10) == ["y" * 9 + "…", "x" * 9 + "…"]


def test_a_deleted_run_has_its_question_and_a_removed_one_its_kind(store, monkeypatch):
    run = store.submit(SearchSpecification("m", Query("cats")))
    store.delete(run)
    (deleted,) = store.listed(deleted=True)
    assert titles(store, [deleted]) == ["cats"]
    store.purge(0.0)
    assert titles(store, [deleted]) == ["cats"]
    monkeypatch.setattr(questions, "_of_store", WeakKeyDictionary())
    assert titles(store, [deleted]) == ["Best first"]


def test_the_oldest_lines_are_forgotten(store, monkeypatch):
    monkeypatch.setattr("relens_dashboard.runs.questions._REMEMBERED", 2)
    for pattern in ("a", "b", "c"):
        store.submit(SearchSpecification("m", Query(pattern)))
    assert titles(store, store.listed()) == ["c", "b", "a"]
    assert len(questions._of_store[store]._lines) == 2
