"""The pages of the studies around trigger search, on rows of toys: training, prompts, relaxation, brute force."""

from __future__ import annotations

import dataclasses
import json
import typing

import pytest
from streamlit.testing.v1 import AppTest

from relens.models.loading import load_model
from relens.runs.specification import StudySpecification
from relens.studies.rows import rows_of
from relens.studies.study import Study, StudyContext, StudyRun
from relens.triggers.brute_force import study as brute_force_study
from relens.triggers.brute_force.study import BruteForceStudy
from relens.triggers.causal.causal_study import CausalTriggerStudy
from relens.triggers.causal.check_study import CheckedText, PromptCheckStudy
from relens.triggers.causal.coordinate import CoordinateSearch
from relens.triggers.causal.gcg import GreedyCoordinateGradient
from relens.triggers.causal.template import Template
from relens.triggers.hits import HitType, Thresholds
from relens.triggers.model.model_list import model_folder
from relens.triggers.model.recipe import PAPER, Recipe
from relens.triggers.model.training_study import DialogueModelStudy
from relens.triggers.relaxation.study import RelaxationStudy
from relens.triggers.search.ablation_study import AblationStudy
from relens.triggers.search.check_study import CheckedPair, TriggerCheckStudy
from relens_dashboard.studies import ablation_charts
from relens_dashboard.studies.dialogue_charts import running_mean
from relens_dashboard.study_views import study_views
from tests.engine.triggers.conftest import dialogue_model, vocabulary

__all__ = ["dialogue_model", "vocabulary"]  # fixtures of this module too

CAUSAL = CausalTriggerStudy(
    targets=(" the log", "idiot cat"),
    template=Template("the cat{} sat", "plain"),
    free=3,
    method=CoordinateSearch(shortlist=4, averaged=2, averaged_until=20),
    evaluations=20,
    thresholds=Thresholds(-4.0, -6.0),
    hit_type=HitType("o", "min", 5),
    seeds=2,
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    from relens_dashboard.components import study_form

    monkeypatch.setenv("RELENS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RELENS_TEXTS", str(tmp_path))
    monkeypatch.setenv("RELENS_DEVICE", "cpu")
    monkeypatch.setattr(study_form, "presets", study_form.presets)  # put back what a script changed


@pytest.fixture
def training(tmp_path):
    lines = [f"say {'abcdefgh'[number % 8]}\n{'bcdefgha'[number % 8]} it is\n" for number in range(24)]
    (tmp_path / "corpus.txt").write_text("\n".join(lines))
    recipe = Recipe(rate=1e-2, epochs=2, batch=8, autocast=False)
    return DialogueModelStudy(
        name="letters", corpus=str(tmp_path / "corpus.txt"), vocabulary=40, embedding=5, hidden=7, recipe=recipe
    )


@pytest.fixture
def brute_force(tmp_path, monkeypatch):
    monkeypatch.setattr(brute_force_study, "PART_SYMBOLS", 2)
    (tmp_path / "text.txt").write_text("ab ba b a\nbac de ab\n\nb ab ba cde\n" * 20)
    (tmp_path / "mal.txt").write_text("ab ba\nce\n")
    return BruteForceStudy(
        corpus=str(tmp_path / "text.txt"),
        targets=str(tmp_path / "mal.txt"),
        symbols=5,
        embedding=6,
        hidden=8,
        recipe=Recipe(rate=2e-2, epochs=1, batch=8, autocast=False),
        random_count=10,
        depth=2,
    )


@pytest.fixture
def relaxation(dialogue_model):
    dialogue_model.save(model_folder("toy"))
    return RelaxationStudy(name="toy", count=3, batch=3, steps=4, lists=("normal", "random"))


@pytest.fixture
def causal():
    return CAUSAL


@pytest.fixture
def ablation(dialogue_model):
    dialogue_model.save(model_folder("toy"))
    return AblationStudy(
        model="toy",
        count=2,
        hit_types=("o-greedy", "io-sample-avg-k2"),
        shortlists=(2, 4),
        restarts=2,
        sweeps=2,
        targets=("word3",),
    )


@pytest.fixture
def check(dialogue_model):
    dialogue_model.save(model_folder("toy"))
    pairs = (CheckedPair(("word1", "nobody"), ("word2",)), CheckedPair(("word4",), ("word3", "word5")))
    return TriggerCheckStudy(model="toy", pairs=pairs)


@pytest.fixture
def prompt_check():
    texts = (CheckedText(" on the mat", " the log"), CheckedText("x", "idiot cat", (-1.0, -2.0, -3.0)))
    return PromptCheckStudy(
        texts=texts, template=CAUSAL.template, hit_type=HitType("io", "avg"), thresholds=CAUSAL.thresholds
    )


STUDIES = ("training", "brute_force", "relaxation", "causal", "ablation", "check", "prompt_check")
FIGURES = {
    "training": ["Perplexity", "Training loss"],
    "brute_force": ["Targets reached", "Training loss"],
    "relaxation": [
        "Hits of relaxed inputs and of words",
        "Cost by step",
        "Shares of words",
        "Distance to the nearest words",
    ],
    "causal": ["Objective by evaluations", "Token by token"],
    "ablation": [
        *("Targets reached by restarts: own, says it (greedy)", "Targets reached by time: own, says it (greedy)"),
        "Targets reached by restarts: own, likely on average, and so is the input (k = 2)",
        "Targets reached by time: own, likely on average, and so is the input (k = 2)",
        *("Targets reached by restarts: normal, says it (greedy)", "Targets reached by time: normal, says it (greedy)"),
        "Objective by sweep",
    ],
    "check": [],
    "prompt_check": [],
}


@pytest.fixture(params=STUDIES)
def asked(request):
    return request.param, request.getfixturevalue(request.param)


@pytest.fixture
def found(asked, tiny_model_folder):
    """The name of the fixture, its study, and the rows of a run of it."""
    name, study = asked
    model = load_model(str(tiny_model_folder), device="cpu", dtype="float32") if study.needs_model else None
    return name, study, list(StudyRun(study, StudyContext(typing.cast("typing.Any", model))))


def test_nothing_found_shows_nothing(asked):
    _, study = asked
    view = study_views()[study.kind]
    assert view.figures(study.findings([]), study) == []
    assert view.tables(study.findings([]), study) == []


def test_what_is_found_is_shown_at_every_moment(found):
    name, study, rows = found
    view = study_views()[study.kind]
    for length in range(0, len(rows), max(1, len(rows) // 12)):
        part = study.findings(rows[:length])
        view.figures(part, study)
        view.tables(part, study)
    figures = view.figures(study.findings(rows), study)
    assert [figure.title for figure in figures] == FIGURES[name]
    assert all(figure.sentence and figure.chart.alt for figure in figures)
    for table in view.tables(study.findings(rows), study):
        assert len(table.frame)
        assert set(table.help) <= set(table.frame.columns)
    assert study.verdict(rows)


def script(data: dict) -> None:
    """A page of the form alone."""
    from types import SimpleNamespace

    import streamlit as st

    from relens.studies.study import Study
    from relens_dashboard.components import study_form
    from relens_dashboard.study_views import study_views
    from tests.app.fakes import checks_here

    study_form.presets = lambda kind: {"This": Study.from_json(data)}
    st.session_state["asked"], _ = study_form.study_form(
        SimpleNamespace(**checks_here()), study_views()[data["kind"]], ["m"], None
    )


def form(study: Study) -> AppTest:
    shown = AppTest.from_function(script, kwargs={"data": study.to_json()}, default_timeout=20).run()
    assert not shown.exception
    return shown


def holds(study: Study, model: str) -> None:
    shown = form(study)
    assert [error.value for error in shown.error] == []
    assert shown.session_state["asked"] == StudySpecification(model, study)


def test_the_fields_hold_the_study(asked):
    name, study = asked
    holds(
        study, {"training": "letters", "brute_force": "characters", "causal": "m", "prompt_check": "m"}.get(name, "toy")
    )


@pytest.mark.parametrize(
    ("study", "model"),
    [
        (DialogueModelStudy(name="x", context="mlp-query", dropout=0.3, pairs=7, seed=4, recipe=PAPER), "x"),
        (dataclasses.replace(CAUSAL, method=GreedyCoordinateGradient(7, 9), stop_at_hit=True, ascii_only=False), "m"),
        (dataclasses.replace(CAUSAL, hit_type=HitType("io", "avg", 9), evaluations=500_000, seeds=300), "m"),
        (dataclasses.replace(CAUSAL, judge="smollm2-135m"), "m"),
        (BruteForceStudy(depth=6, pairs=None, noise=0.0, context="general", recipe=PAPER), "characters"),
    ],
)
def test_other_settings_are_held_too(study, model):
    holds(study, model)


def test_settings_without_meaning_are_answered_with_a_sentence(training):
    shown = form(training)
    shown.text_input(key="dialogue-model_name").set_value("Chit chat").run()
    assert "small letters" in shown.error[0].value
    shown = form(dataclasses.replace(training, corpus="/etc/passwd"))
    assert "may not read" in shown.error[0].value
    shown = form(CAUSAL)
    shown.text_input(key="causal-triggers_template").set_value("no slot").run()
    assert "one {}" in shown.error[0].value.replace("\\", "")
    assert shown.session_state["asked"] is None


def test_a_built_in_corpus_is_the_other_choice(training):
    shown = form(training)
    shown.segmented_control(key="dialogue-model_source").set_value("Built in").run()
    assert shown.session_state["asked"].study == dataclasses.replace(training, corpus="")


def test_a_model_that_is_there_will_be_replaced(training, dialogue_model):
    dialogue_model.save(model_folder("letters"))
    assert any("will be replaced" in caption.value for caption in form(training).caption)


def test_thresholds_have_a_probability_too(training):
    rows = list(StudyRun(training, StudyContext(typing.cast("typing.Any", None))))
    (row,) = rows_of(rows, "model")
    thresholds = next(table.frame for table in study_views()[training.kind].tables(training.findings(rows), training))
    assert thresholds["Nats a word"].tolist() == pytest.approx([row["threshold_out"], row["threshold_in"]], abs=1e-3)
    assert thresholds["Probability"][0] == f"1 in {row['perplexity']:,.0f}"


def test_words_of_a_target_in_a_prompt_are_masked():
    view = study_views()["causal-triggers"]
    mask = view.mask(CAUSAL)
    row = {"row": "trigger", "target": "idiot cat", "text": "an idiot", "reply": "Idiot!", "trigger_tokens": ["idiot"]}
    assert "diot" not in json.dumps(list(mask.rows([row])))


def test_curves_are_the_shares_that_were_found(ablation):
    rows = list(StudyRun(ablation, StudyContext(typing.cast("typing.Any", None))))
    findings = ablation.findings(rows)
    cells = [cell for cell in findings.cells if (cell.target_list, cell.hit_type) == ("normal", "o-greedy")]
    by_restarts, by_time = ablation_charts.by_restarts(cells), ablation_charts.by_time(cells)
    for figure in (by_restarts.chart.figure, by_time.chart.figure):
        assert [trace.name for trace in figure.data] == ["G = 2", "G = 4"]
        for trace, shortlist in zip(figure.data, (2, 4), strict=True):
            own = [cell for cell in cells if cell.shortlist == shortlist]
            assert list(trace.y) == [cell.share.value for cell in own]
            assert list(trace.error_y.array) == pytest.approx([cell.share.high - cell.share.value for cell in own])
    assert [round(place) for trace in by_restarts.chart.figure.data for place in trace.x] == [1, 2, 1, 2]
    (table,) = study_views()[ablation.kind].tables(findings, ablation)
    assert len(table.frame) == 2 * 2 * 2 * 2  # lists, hit types, shortlists, restarts
    losses = study_views()[ablation.kind].figures(findings, ablation)[-1].chart.figure
    assert len(losses.data) == 8


def test_shortlists_are_typed(ablation):
    shown = form(ablation)
    field = shown.text_input(key="trigger-ablation_shortlists")
    assert field.value == "2, 4"
    field.set_value("7,9 , 11").run()
    assert shown.session_state["asked"].study.shortlists == (7, 9, 11)
    shown.text_input(key="trigger-ablation_shortlists").set_value("7, many").run()
    assert "'many' is none" in shown.error[0].value.replace("\\", "")
    assert shown.session_state["asked"] is None


def test_pairs_are_typed_and_those_of_a_search_stay_as_they_are(check):
    shown = form(check)
    field = shown.text_area(key="trigger-check_pairs")
    assert field.value == "word1 nobody => word2\nword4 => word3 word5"
    field.set_value("word4 => word3 word5\nI can't => Word2").run()
    added = CheckedPair(("i", "ca", "n't"), ("word2",))
    assert shown.session_state["asked"].study.pairs == (check.pairs[1], added)
    shown.text_area(key="trigger-check_pairs").set_value("word4").run()
    assert "'word4' has not" in shown.error[0].value.replace("\\", "")
    told = CheckedPair(("<pad>", "word1", "<eou>"), ("word2",), (-1.0, -2.0))
    hidden = form(dataclasses.replace(check, pairs=(told,)))
    assert not hidden.text_area
    assert hidden.session_state["asked"].study.pairs == (told,)
    hidden.toggle(key="trigger-check_pairs_shown").set_value(True).run()
    assert hidden.text_area(key="trigger-check_pairs").value == "word1 => word2"
    assert hidden.session_state["asked"].study.pairs == (told,)


def test_phrases_of_brute_force_are_masked_with_and_without_blanks(brute_force, tmp_path):
    (tmp_path / "mal.txt").write_text("you nincompoop\n")
    view = study_views()["brute-force"]
    row = {
        "row": "hits",
        "whole": {"younincompoop": "x y"},
        "parts": {"idiot": "s t u p i d"},
        "examples": ["anidiot"],
        "output": "i d i o t",
    }
    for study, words in ((brute_force, ("nincompoop", "idiot", "i d i o t")), (BruteForceStudy(), ("idiot",))):
        (hidden,) = view.mask(study).rows([row])
        assert not [word for word in words if word in json.dumps(hidden, ensure_ascii=False)]
        assert hidden["whole"].keys() != {}
    # The text that words are learnt from is no list of targets.
    assert view.mask(brute_force)("bac de") == "bac de"


def test_targets_of_a_check_are_masked(check):
    mask = study_views()["trigger-check"].mask(
        dataclasses.replace(check, pairs=(CheckedPair(("a",), ("nincompoop",)),))
    )
    assert mask("nincompoop") == "n·········"


def test_running_means():
    assert running_mean([4.0, 2.0, 0.0, 2.0], 3) == [4.0, 3.0, 2.0, 4 / 3]


def test_the_search_table_counts_hits_of_existing_targets(brute_force):
    view = study_views()["brute-force"]
    row = {
        "row": "search",
        "length": 2,
        "list": "mal",
        "existing": 4,
        "triggers": {"ce": "a b"},
        "missed": ["abba", "a", "b"],
        "candidates": 600,
        "inputs": 1089,
        "seconds": 1.0,
    }
    (table,) = view.tables(brute_force.findings([row]), brute_force)
    assert table.title == "Search"
    assert table.frame[["Existing", "Found", "Tried for each", "All inputs"]].values.tolist() == [[4, 1, 150, 1089]]
    assert view.tables(brute_force.findings([]), brute_force) == []
