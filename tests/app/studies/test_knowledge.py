"""The page of the knowledge study: its settings drawn by Streamlit, figures and tables on rows by hand and of a run."""

from __future__ import annotations

import json
import math

import pytest
from streamlit.testing.v1 import AppTest

from relens.studies.knowledge import PRESETS, KnowledgeStudy
from relens.studies.study import StudyContext, StudyRun
from relens_dashboard.studies.knowledge import MOST_CHARACTERS, MOST_EXPANSIONS, VIEW
from relens_dashboard.studies.knowledge_figures import SHOWN

HOSTILE = "<img src=x onerror=alert(1)> $x$"
STUDY = PRESETS["capital"]


def choice(text, share, *, is_truth=False):
    return {
        "unit": "choices",
        "row": "choice",
        "text": text,
        "is_truth": is_truth,
        "log_prob": math.log(share / 10),
        "share": share,
    }


def match(rank, text, *, is_truth=False):
    return {
        "unit": "structured",
        "row": "match",
        "rank": rank,
        "text": text,
        "is_truth": is_truth,
        "log_prob": -1.0 - rank,
    }


def ranking(rank, matches, log_prob=-20.0):
    return {
        "unit": "structured",
        "row": "ranking",
        "rank": rank,
        "matches": matches,
        "answers": 72,
        "log_prob": log_prob,
        "expansions": 200,
        "ended": "found",
        "found_mass": 0.1,
        "remaining_mass": 0.1,
    }


def free(text, has_truth):
    return {"unit": "free", "row": "continuation", "text": text, "tokens": 9, "has_truth": has_truth}


CHOICES = [choice("Canberra", 0.3, is_truth=True), choice("Sydney", 0.6), choice("Perth", 0.1)]


def ranked(rank, matches):
    """Rows of a structured query with `matches` matches, the truth in place `rank` or not among them."""
    rows = [match(place, f"City {place}") for place in range(1, matches + 1)]
    if rank:
        rows[rank - 1] = match(rank, "Canberra", is_truth=True)
    return [*rows, ranking(rank, matches, -1.0 - rank if rank else -20.0)]


def figures(rows, study=STUDY):
    return {figure.title: figure for figure in VIEW.figures(study.findings(rows), study)}


def tables(rows, study=STUDY):
    return {table.title: table for table in VIEW.tables(study.findings(rows), study)}


def test_nothing_found_shows_nothing():
    for rows in ([], [{"unit": "choices", "row": "begin"}]):
        assert figures(rows) == tables(rows) == {}


def test_choices_are_bars_with_the_right_one_marked():
    figure = figures(CHOICES)["Multiple choice"]
    (bars,) = figure.chart.figure.data
    assert list(bars.x) == [0.6, 0.3, 0.1]
    assert list(figure.chart.figure.layout.yaxis.ticktext) == ["Sydney", "✓ Canberra", "Perth"]
    assert list(bars.marker.pattern.shape) == ["", "/", ""]
    assert len(set(bars.marker.color)) == 2
    assert figure.sentence == (
        "Among 3 choices the model prefers “Sydney”, which is wrong; the right one has 30 % of the probability."
    )
    assert "✓ Canberra 30 %" in figure.chart.alt
    right = [choice("Canberra", 0.9, is_truth=True), choice("Perth", 0.1)]
    assert "prefers the right one, “Canberra”" in figures(right)["Multiple choice"].sentence


@pytest.mark.parametrize(("rank", "matches"), [(1, 20), (5, 20), (12, 20), (13, 20), (57, 60)])
def test_the_truth_is_drawn_wherever_it_stands(rank, matches):
    figure = figures(ranked(rank, matches))["Structured query"]
    (bars,) = figure.chart.figure.data
    labels = list(figure.chart.figure.layout.yaxis.ticktext)
    assert len(bars.x) == SHOWN + (rank > SHOWN)
    assert [place for place, shape in enumerate(bars.marker.pattern.shape) if shape] == [min(rank, SHOWN + 1) - 1]
    assert labels[min(rank, SHOWN + 1) - 1] == f"{rank} · ✓ Canberra"
    assert bars.x[min(rank, SHOWN + 1) - 1] == pytest.approx(math.exp(-1.0 - rank))
    told = "the right one comes first" if rank == 1 else f"the right one comes in place {rank}, "
    assert told in figure.sentence
    assert "all 72 answers" in figure.sentence


def test_a_truth_that_was_not_reached_is_told_to_come_later():
    rows = ranked(None, 30)
    shown = figures(rows)
    (bars,) = shown["Structured query"].chart.figure.data
    assert shown["Structured query"].chart.figure.layout.yaxis.ticktext[-1] == "after 30 · ✓ Canberra"
    assert bars.x[-1] == pytest.approx(math.exp(-20.0))
    assert "at least 30 come before the right one" in shown["Structured query"].sentence
    lines = shown["Probability by rank"].chart.figure.layout
    assert lines.shapes[0].y0 == pytest.approx(math.exp(-20.0))
    assert "not reached" in lines.annotations[0].text
    way = tables(rows)["One question, three ways"].frame.iloc[0]
    assert way["What it tells"] == "The right one comes in place 31 at the earliest."


def test_all_places_are_drawn_and_the_truth_starred():
    line, star = figures(ranked(5, 40))["Probability by rank"].chart.figure.data
    assert list(line.x) == list(range(1, 41))
    assert list(line.y) == pytest.approx([math.exp(-1.0 - place) for place in range(1, 41)])
    assert (list(star.x), star.marker.symbol) == ([5], "star")
    for matches, told in ((3, "7.4 times as likely as the one in place 3"), (12, "60,000 times"), (40, "about 10^17 ")):
        assert told in figures(ranked(1, matches))["Probability by rank"].sentence


def test_a_probability_beyond_floats_is_drawn():
    rows = [*ranked(None, 2)[:-1], ranking(None, 2, -2_000.0)]
    for figure in VIEW.figures(STUDY.findings(rows), STUDY):
        json.dumps(figure.chart.figure.to_plotly_json(), default=list)
    assert "10^869" in figures(rows)["Structured query"].sentence
    assert not figures(rows)["Probability by rank"].chart.figure.layout.shapes


def test_a_search_that_ended_without_an_answer_says_so():
    shown = figures([ranking(None, 0, -3.0)])
    assert list(shown) == ["Structured query"]
    assert shown["Structured query"].sentence.startswith("The search ended before its first answer; ")
    assert list(shown["Structured query"].chart.figure.data[0].x) == pytest.approx([math.exp(-3.0)])


def test_a_search_that_goes_on_says_so():
    rows = ranked(None, 3)[:-1]
    assert figures(rows)["Structured query"].sentence.startswith("3 answers so far")
    assert "goes on" in tables(rows)["One question, three ways"].frame["What it tells"][0]


def test_the_free_response_tells_what_it_contains():
    rows = [*CHOICES, free(" Sydney, not\nPerthshire", False)]
    assert tables(rows)["Free response"].frame.iloc[0].to_dict() == {
        "The model goes on": "Sydney, not↵Perthshire",
        "Right answer in it": "not in these words",
        "Wrong answers in it": "Sydney",
        "Tokens": 9,
    }
    alone = tables([free(" Perth or Canberra", True)])["Free response"].frame.iloc[0]
    assert (alone["Right answer in it"], alone["Wrong answers in it"]) == ("yes", "Perth")


def test_three_ways_stand_side_by_side():
    frame = tables([*CHOICES, free(" the city of Canberra", True), *ranked(2, 20)])["One question, three ways"].frame
    assert list(frame["Way"]) == ["Multiple choice", "Free response", "Structured query"]
    assert list(frame["What comes first"]) == ["Sydney", "the city of Canberra", "City 1"]
    assert list(frame["Right"]) == ["no", "yes", "no"]
    assert frame["What it tells"][2] == "The right one comes in place 2."
    # Without the choices the study says which is the right one.
    first = tables(ranked(1, 20))["One question, three ways"].frame
    assert list(first["Right"]) == ["yes"]


def test_tables_hold_every_row_in_order():
    shown = tables([*CHOICES, *ranked(3, 30)])
    assert list(shown["Choices"].frame["Choice"]) == ["Sydney", "✓ Canberra", "Perth"]
    answers = shown["Answers of the structured query"].frame
    assert list(answers["Place"]) == list(range(1, 31))
    assert answers["Answer"][2] == "✓ Canberra"
    assert list(answers["log P"]) == [-1.0 - place for place in range(1, 31)]
    for table in shown.values():
        assert set(table.help) <= set(table.frame.columns)


def test_hostile_text_is_only_text():
    rows = [choice(HOSTILE, 0.5, is_truth=True), choice("b", 0.5), match(1, HOSTILE), ranking(None, 1), match(2, "c")]
    for figure in VIEW.figures(STUDY.findings(rows), STUDY):
        drawn = json.dumps(figure.chart.figure.to_plotly_json(), default=list)
        assert "<img" not in drawn
        assert "$x" not in drawn


def test_rows_of_a_real_run_are_shown(tiny_model_folder):
    from relens import load_model

    study = KnowledgeStudy(
        truth="July 9", distractors=("July 4", "the log"), pattern="(July|the) ([1-9]|log|mat)", continuation=7
    )
    rows = list(StudyRun(study, StudyContext(load_model(str(tiny_model_folder), device="cpu", dtype="float32"))))
    assert list(figures(rows, study)) == ["Structured query", "Multiple choice", "Probability by rank"]
    assert len(tables(rows, study)["One question, three ways"].frame) == 3
    assert sum(figures(rows, study)["Multiple choice"].chart.figure.data[0].x) == pytest.approx(1.0)
    for length in range(len(rows)):  # followed live
        VIEW.figures(study.findings(rows[:length]), study)
        VIEW.tables(study.findings(rows[:length]), study)


# ------------------------------------------------------------------------------------------------ settings


def script():
    import json

    import streamlit as st

    from relens.errors import QueryError
    from relens.studies.study import Study
    from relens_dashboard.studies.knowledge import VIEW

    st.session_state["asked"] = None
    if st.session_state["given"] is None:
        return
    try:
        study = VIEW.settings(Study.from_json(json.loads(st.session_state["given"])))
        study.units()
        st.session_state["asked"] = study
    except QueryError as error:
        st.error(error.sentence)


def page(study: KnowledgeStudy) -> AppTest:
    test = AppTest.from_function(script, default_timeout=30)
    test.session_state["given"] = json.dumps(study.to_json())
    test.run()
    assert not test.exception
    return test


def complaint(test: AppTest) -> str:
    assert not test.exception
    assert test.session_state["asked"] is None
    return test.error[0].value


@pytest.mark.parametrize("study", [*PRESETS.values(), KnowledgeStudy(prompt="Q: Where?\nA:", expansions=10**7)])
def test_what_is_not_touched_stays(study):
    assert page(study).session_state["asked"] == study


def test_another_study_has_its_own_values_once_the_widgets_were_gone():
    test = page(STUDY)
    test.text_area(key="knowledge_distractors").set_value("Hobart").run()
    for study in (*PRESETS.values(), STUDY):
        test.session_state["given"] = None
        test.run()
        test.session_state["given"] = json.dumps(study.to_json())
        assert test.run().session_state["asked"] == study


def test_widgets_say_what_is_asked():
    test = page(STUDY)
    test.text_area(key="knowledge_prompt").set_value("The capital of France is")
    test.text_input(key="knowledge_truth").set_value(" Paris ")
    test.text_area(key="knowledge_distractors").set_value("Lyon\n\n Nice, \nLyon")
    test.text_input(key="knowledge_pattern").set_value("Paris|Lyon|Nice")
    test.number_input(key="knowledge_matches").set_value(3)
    test.number_input(key="knowledge_expansions").set_value(77)
    test.number_input(key="knowledge_continuation").set_value(5)
    assert test.run().session_state["asked"] == KnowledgeStudy(
        "The capital of France is", "Paris", ("Lyon", "Nice,"), "Paris|Lyon|Nice", 5, 3, 77
    )


@pytest.mark.parametrize(
    ("kind", "name", "value", "sentence"),
    [
        ("text_area", "prompt", " ", "does not end in a blank"),
        ("text_area", "prompt", "A is ", "The prompt must be a text that does not end in a blank"),
        ("text_input", "truth", " ", "must not be empty"),
        ("text_input", "truth", "Sydney", "The truth and the distractors must all be different."),
        ("text_area", "distractors", "\n", "must have at least 1"),
        ("text_input", "pattern", "", "must not be empty"),
        ("text_input", "pattern", "(a", "position 0 of the pattern."),
        ("text_input", "pattern", r"(a)\1", "pattern"),
        ("text_area", "distractors", "\n".join(map(str, range(101))), "must have at most 99"),
    ],
)
def test_settings_without_meaning_are_one_sentence(kind, name, value, sentence):
    test = page(STUDY)
    getattr(test, kind)(key=f"knowledge_{name}").set_value(value).run()
    assert sentence in complaint(test)


def test_what_is_too_long_or_too_large_is_not_taken():
    test = page(STUDY)
    test.number_input(key="knowledge_expansions").set_value(MOST_EXPANSIONS + 1).run()
    assert test.session_state["asked"] == STUDY
    test.text_area(key="knowledge_prompt").set_value("a" * (MOST_CHARACTERS + 1)).run()
    assert len(test.session_state["asked"].prompt) == MOST_CHARACTERS
