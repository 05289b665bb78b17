"""Runs told in a line, and listed."""

from __future__ import annotations

import dataclasses

import pytest

from app.components.run_details import facts_html, fingerprint_sentence
from app.runs.described import question, seconds_spent, spent_text, title, variety_name, variety_names
from app.runs.listed import ids_of, pages, runs_table
from engine.query import Query, Sampling
from engine.runs.specification import SearchSpecification, StudySpecification
from engine.studies.bias import BiasStudy
from engine.studies.catalogue import STUDIES
from engine.studies.toxicity import ToxicityStudy
from engine.triggers.trigger_study import TriggerStudy
from tests.app.fakes import FakeStore


def record(specification, variety, **changes):
    store = FakeStore()
    return dataclasses.replace(store.get(store.submit(specification)), variety=variety, **changes)


SEARCH = record(SearchSpecification("m", Query("b\n(c|d)", prefix="a"), Sampling()), "sampling")
STUDY = record(StudySpecification("m", BiasStudy(draws=12, subjects=tuple("abcdef"), seed=3, tolerance=0.5)), "bias")


def test_what_was_asked():
    assert question(SEARCH) == "a|b↵(c|d)"
    assert title(SEARCH, 4) == "a|b…"
    assert title(dataclasses.replace(SEARCH, name="Mine\n")) == "Mine↵"
    assert question(STUDY).startswith("Bias (subjects a/b/c/d/…, ")
    assert question(STUDY).endswith("1 more)")
    assert (
        question(dataclasses.replace(STUDY, specification={"kind": "study", "study": {"kind": "bias", "x": 1}}))
        == "Bias"
    )


def test_words_that_a_study_masks_are_masked():
    study = record(StudySpecification("m", ToxicityStudy(words=("nitwit",))), "toxicity")
    assert "nitwit" not in question(study)
    assert "n·····" in question(study)


def test_every_variety_has_a_name():
    assert set(STUDIES) < set(variety_names())
    assert variety_name(SEARCH) == "Sample"
    assert variety_name(STUDY) == "Bias"
    assert variety_name(dataclasses.replace(SEARCH, kind="other", variety="")) == "Other"


def test_time_is_that_of_the_work():
    assert (seconds_spent(SEARCH), spent_text(SEARCH)) == (None, "")
    assert seconds_spent(dataclasses.replace(SEARCH, started=1.0, ended=3.0)) == 2.0
    assert seconds_spent(dataclasses.replace(SEARCH, progress={"seconds_total": 1.5}, started=1.0, ended=9.0)) == 1.5


def test_the_table_marks_pinned_and_imported_runs():
    table = runs_table([dataclasses.replace(SEARCH, pinned=True), dataclasses.replace(STUDY, origin={"id": "x"})])
    assert list(table["★"]) == ["★", ""]
    assert [text[:2] for text in table["Run"]] == ["a|", "⤓ "]
    assert len(runs_table([])) == 0


@pytest.mark.parametrize(
    ("text", "ids"),
    [("a,b", ("a", "b")), ("a,,a, b ,c,d", ("a", "b", "c")), ("", ()), ("<b>,x/y", ()), ("é", ("é",)), ("a" * 33, ())],
)
def test_ids_of_an_address(text, ids):
    assert ids_of(text, 3) == ids


def test_pages():
    assert [pages(total, 25) for total in (0, 1, 25, 26)] == [1, 1, 1, 2]


def test_facts_are_escaped_and_repeating_says_what_to_expect():
    hostile = dataclasses.replace(SEARCH, name="<img>", model="<img>", error="<img>", model_fingerprint="f")
    assert "<img>" not in facts_html(hostile)
    same = fingerprint_sentence(hostile, "f")
    assert "The model of this name is the same here" in same
    for besides in ("versions", "device", "files", "other models", "limit of time"):
        assert besides in same
    assert "another here" in fingerprint_sentence(hostile, "g")
    assert "once it has run" in fingerprint_sentence(hostile, None)
    assert "does not say" in fingerprint_sentence(SEARCH, "f")
    for here in (None, "f"):
        told = fingerprint_sentence(record(StudySpecification("toy", TriggerStudy()), "triggers"), here)
        assert told.startswith("It asks no language model. Repeating it with its seed gives the same rows where")
