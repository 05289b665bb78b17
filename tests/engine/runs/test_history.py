"""Finding, naming, pinning, deleting and restoring runs, against a list in plain Python."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relens.errors import LimitError, QueryError
from relens.query import Distribution, Query, Sampling, ShortestPath
from relens.runs import history as history_module
from relens.runs.listed_runs import COLUMNS
from relens.runs.specification import InspectSpecification, SearchSpecification, StudySpecification
from relens.studies.bias import BiasStudy
from tests.engine.runs.fakes import specification

KINDS = (ShortestPath(), Sampling(count=7, seed=3), Distribution())


def ids(runs):
    return [run.id for run in runs]


def test_runs_are_found_by_the_words_of_their_query(store):
    dates = store.submit(SearchSpecification("gpt2", Query(r" (January|July) \d{1,2}", prefix="Washington was born")))
    coffee = store.submit(SearchSpecification("fake", Query("CAFÉ 100%_!")))
    bias = store.submit(StudySpecification("fake", BiasStudy(outcomes=("art", "medicine"))))
    for text, expected in (
        ("", [bias, coffee, dates]),
        ("washington july", [dates]),
        (r"\d{1,2}", [dates]),
        ("café", [coffee]),
        ("CAFé 100%_!", [coffee]),
        ("100%", [coffee]),
        ("medicine", [bias]),
        ("GPT2", [dates]),
        ("washington café", []),
        ("pattern", []),  # the name of a field, not its value
        ("\0", [bias, coffee, dates]),
        ("\ud800", []),
    ):
        assert ids(store.find(text)) == expected, text
        assert store.count(text) == len(expected)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.text("aAbé%_!\\'\" ", min_size=1, max_size=6), min_size=1, max_size=5),
    st.text("aAbé%_!\\'\" ", max_size=4),
)
def test_a_word_is_found_where_python_finds_it(store, texts, searched):
    for run in store.find():
        store.delete(run.id)
    runs = [(store.submit(SearchSpecification("m", Query(text))), text) for text in texts]
    words_of_every_run = ["m", "all", "canonical", "token", "[ -~]", "both", "shortest_path", "joint"]

    def has(text):
        return all(word in "\n".join([*words_of_every_run, text]).casefold() for word in searched.casefold().split())

    assert ids(store.find(searched)) == [run for run, text in reversed(runs) if has(text)]


def test_filters_order_and_pages(store):
    runs = [store.submit(SearchSpecification(f"model{place % 2}", Query("a"), KINDS[place % 3])) for place in range(6)]
    store.submit(InspectSpecification("model0", (1,)))
    study = store.submit(StudySpecification("model1", BiasStudy()))
    assert ids(store.find()) == [study, *runs[::-1]]
    assert ids(store.find(kinds=("study",))) == [study]
    assert ids(store.find(varieties=("sampling", "bias"))) == [study, runs[4], runs[1]]
    assert ids(store.find(models=("model0",))) == [runs[4], runs[2], runs[0]]
    assert store.models() == ["model0", "model1"]
    store.pin(runs[1])
    assert ids(store.find())[:2] == [runs[1], study]
    assert ids(store.find(pinned=True)) == [runs[1]]
    assert runs[1] not in ids(store.find(pinned=False))
    assert ids(store.find(limit=2, offset=2)) == [runs[5], runs[4]]
    assert store.count(models=("model1",)) == 4
    store.pin(runs[1], False)
    assert store.count(pinned=True) == 0


def test_a_list_has_the_same_runs_in_the_same_order_without_specifications(store):
    for place in range(5):
        run_id = store.submit(SearchSpecification(f"model{place % 2}", Query("cats")))
    store.pin(run_id)
    store.rename(run_id, "Mine")
    store.claim("w")
    for filters in (
        {},
        {"text": "cats mine"},
        {"models": ("model0",)},
        {"statuses": ("running",)},
        {"limit": 2, "offset": 1},
    ):
        listed = store.listed(**filters)
        assert [dataclasses.asdict(run) for run in listed] == [
            {name: value for name, value in dataclasses.asdict(run).items() if name in COLUMNS}
            for run in store.find(**filters)
        ]
        assert [run.is_live for run in listed] == [run.is_live for run in store.find(**filters)]
    assert "specification" not in COLUMNS
    assert store.specification(run_id) == store.get(run_id).specification
    assert store.specification("nothing") is None


def test_statuses(store):
    waiting, ended = store.submit(specification("a")), store.submit(specification("b"))
    store.request_stop(ended)
    assert ids(store.find(statuses=("stopped",))) == [ended]
    assert ids(store.find(statuses=("queued", "running"))) == [waiting]


def test_a_name_and_a_note_are_kept_and_searched(store):
    run_id = store.submit(specification("a"))
    store.rename(run_id, "  Birth\n dates ")
    store.annotate(run_id, "for the talk\nin Köln\0\ud800 ")
    run = store.get(run_id)
    assert (run.name, run.note) == ("Birth dates", "for the talk\nin Köln?")
    assert ids(store.find("birth KÖLN")) == [run_id]
    store.rename(run_id, "")
    assert store.find("birth") == []
    assert ids(store.find("köln")) == [run_id]
    for change, longest in (
        (store.rename, history_module.LONGEST_NAME),
        (store.annotate, history_module.LONGEST_NOTE),
    ):
        change(run_id, "x" * longest)
        with pytest.raises(LimitError, match=f"{longest:,}"):
            change(run_id, "x" * (longest + 1))
    for change in (store.rename, store.annotate):
        with pytest.raises(QueryError, match="'nothing'"):
            change("nothing", "x")
    with pytest.raises(QueryError, match="'nothing'"):
        store.pin("nothing")


def test_a_deleted_run_is_gone_until_it_is_restored(store):
    run_id = store.submit(specification("a"))
    store.claim("w")
    store.append(run_id, [{"text": "x"}], {})
    store.finish(run_id, "done")
    store.rename(run_id, "mine")
    before, rows = store.get(run_id), store.rows(run_id)
    store.delete(run_id)
    assert (store.get(run_id), store.rows(run_id), store.find()) == (None, [], [])
    assert store.models() == []
    assert ids(store.find(deleted=True)) == [run_id]
    assert store.find(deleted=True)[0].deleted is not None
    for change in (lambda: store.rename(run_id, "x"), lambda: store.pin(run_id), lambda: store.repeat(run_id)):
        with pytest.raises(QueryError):
            change()
    store.restore(run_id)
    assert (store.get(run_id), store.rows(run_id)) == (before, rows)
    with pytest.raises(QueryError, match="cannot be restored"):
        store.restore(run_id)


@pytest.mark.parametrize("running", [False, True])
def test_a_live_run_that_is_deleted_is_stopped(store, running):
    run_id = store.submit(specification("a"))
    if running:
        store.claim("w")
    store.delete(run_id)
    assert store.stop_requested(run_id)
    assert store.claim("w") is None
    store.append(run_id, [{"text": "y"}], {})
    store.finish(run_id, "done")
    store.restore(run_id)
    assert (store.get(run_id).status, store.rows(run_id)) == ("stopped", [])


def test_runs_deleted_long_ago_are_removed_for_good(store, monkeypatch):
    old, new = store.submit(specification("a")), store.submit(specification("b"))
    store.delete(old)
    assert store.purge() == 0
    monkeypatch.setenv("RELENS_KEEP_DELETED", "0")
    assert store.purge() == 1
    with pytest.raises(QueryError):
        store.restore(old)
    assert store.get(new) is not None
    store.delete(new)  # nothing is kept at all
    assert store.find(deleted=True) == []
    assert store.purge(0.0) == 0


def test_the_fingerprint_of_a_model_is_that_of_its_last_run_here(store):
    assert store.fingerprint_here("fake") is None
    for fingerprint in ("old", "new"):
        run_id = store.submit(specification("a"))
        store.claim("w")
        store.report(run_id, model_fingerprint=fingerprint)
        store.finish(run_id, "done")
    assert store.fingerprint_here("fake") == "new"
    assert store.fingerprint_here("other") is None
