"""Runs in a line, and in a list."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relens.query import Query, Sampling
from relens.runs.specification import SearchSpecification, StudySpecification
from relens.studies.bias import BiasStudy
from relens.studies.catalogue import STUDIES
from relens.studies.toxicity import ToxicityStudy
from relens.triggers.search.trigger_study import TriggerStudy
from relens_dashboard.components.run_details import facts_html, fingerprint_sentence
from relens_dashboard.runs import described
from relens_dashboard.runs.described import question, seconds_spent, spent_text, title, variety_name, variety_names
from relens_dashboard.runs.listed import ids_of, pages, runs_table
from relens_dashboard.text import shortened, visible
from tests.app.fakes import FakeStore


def record(specification, variety, **changes):
    store = FakeStore()
    return dataclasses.replace(store.get(store.submit(specification)), variety=variety, **changes)


SEARCH = record(SearchSpecification("m", Query("b\n(c|d)", prefix="a"), Sampling()), "sampling")
STUDY = record(StudySpecification("m", BiasStudy(draws=12, subjects=tuple("abcdef"), seed=3, tolerance=0.5)), "bias")


def test_the_question_of_a_run():
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


def test_only_the_shown_part_of_a_long_question_is_read(monkeypatch):
    read = []
    monkeypatch.setattr(
        described, "visible", lambda text, spaces: read.append(len(text)) or visible(text, spaces=spaces)
    )
    long = "a\n" * 500_000
    query = {"prefix": long, "pattern": long}
    shown = question(dataclasses.replace(SEARCH, specification={"kind": "search", "query": query}), 50)
    assert shown == visible(long[:49], spaces=False) + "…"
    study = TriggerStudy(targets=("you idiot " + "a " * 100, "idiot"))
    assert "i····" in question(record(StudySpecification("m", study), "triggers"))
    assert max(read) <= 90


@given(st.text(max_size=12), st.text(max_size=12), st.integers(1, 30))
def test_cutting_first_shows_what_cutting_last_would(prefix, pattern, longest):
    run = record(SearchSpecification("m", Query("a")), "shortest_path")
    run = dataclasses.replace(run, specification={"query": {"prefix": prefix, "pattern": pattern}})
    whole = visible(f"{prefix}|{pattern}" if prefix else pattern, spaces=False)
    assert question(run, longest) == shortened(whole, longest)


@given(st.integers(0, 120), st.sampled_from(["idiot", "idiots", "id iot"]))
@example(19, "idiot")
def test_a_word_that_is_masked_is_masked_wherever_the_text_is_cut(before, word):
    study = TriggerStudy(targets=("a " * before + word + " a", "b"))
    shown = question(record(StudySpecification("m", study), "triggers"))
    assert "targets a" in shown or before == 0
    assert "id" not in shown
    assert "iot" not in shown


def test_a_setting_that_is_a_list_of_lists_is_counted_and_others_are_begun():
    assert described._value(described._beginning([[1], [2]])) == "(2)"
    assert described._value(described._beginning(["a" * 50, 2, 3.5, True, "e"])) == "a" * 39 + "…/2/3.5/True/…"
    assert described._value(described._beginning({"top_k": 40, "top_p": None})) == "{'top_k': 40, 'top_p': None}"


def test_the_table_marks_pinned_and_imported_runs():
    runs = [dataclasses.replace(SEARCH, pinned=True), dataclasses.replace(STUDY, origin={"id": "x"}, model="m" * 500)]
    table = runs_table(runs, ["a|b", "Bias"])
    assert list(table["★"]) == ["★", ""]
    assert list(table["Run"]) == ["a|b", "⤓ Bias"]
    assert table["Model"][1] == "m" * 79 + "…"
    assert len(runs_table([], [])) == 0


@pytest.mark.parametrize(
    ("text", "ids"),
    [("a,b", ("a", "b")), ("a,,a, b ,c,d", ("a", "b", "c")), ("", ()), ("<b>,x/y", ()), ("é", ("é",)), ("a" * 33, ())],
)
def test_ids_of_an_address(text, ids):
    assert ids_of(text, 3) == ids


def test_pages():
    assert [pages(total, 25) for total in (0, 1, 25, 26)] == [1, 1, 1, 2]


def test_facts_are_escaped_and_the_result_of_repeating_is_predicted():
    hostile = dataclasses.replace(SEARCH, name="<img>", model="<img>", error="<img>", model_fingerprint="f")
    assert "<img>" not in facts_html(hostile)
    same = fingerprint_sentence(hostile, "f")
    assert "The model of this name is the same here" in same
    for condition in ("versions", "device", "files", "other models", "time limit"):
        assert condition in same
    assert "different here" in fingerprint_sentence(hostile, "g")
    assert "after its first run" in fingerprint_sentence(hostile, None)
    assert "has no fingerprint" in fingerprint_sentence(SEARCH, "f")
    for here in (None, "f"):
        sentence = fingerprint_sentence(record(StudySpecification("toy", TriggerStudy()), "triggers"), here)
        assert sentence.startswith("It uses no language model. A repetition with the same seed gives the same rows if")
