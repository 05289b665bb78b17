"""The page of the cloze test: its settings drawn by Streamlit, figures and tables on rows by hand and of a real run."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from relens.errors import LimitError, QueryError
from relens.paired import proportion
from relens.percent import p_text
from relens.studies.cloze import LABELS, VARIANTS, ClozeStudy
from relens.studies.passages import own_passages
from relens.studies.study import StudyContext, StudyRun
from relens_dashboard.studies import cloze_settings
from relens_dashboard.studies.cloze import VIEW
from relens_dashboard.studies.cloze_figures import FIRST, NOT_LISTED, UNDECIDED, rank_counts

STUDY = ClozeStudy()
HOSTILE = "<img src=x onerror=alert(1)> $x$ [a](javascript:b)"


def row(variant, passage, truth, words=(), *, cut=False, error="", context="Ann met Bob. Then Bob left"):
    return {
        "unit": "open 0",
        "row": "answer",
        "variant": variant,
        "passage": passage,
        "context": context,
        "truth": truth,
        "answers": [
            {"word": word, "text": f" {word}", "log_prob": -1.0 - place, "decoder_log_prob": -0.5 - place}
            for place, word in enumerate(words)
        ],
        "right": list(words[:1]) == [truth],
        "rank": words.index(truth) + 1 if truth in words else None,
        "expansions": 10,
        "cut": cut,
        "error": error,
    }


def many_rows():
    """ "words" finds 18 of 20 passages, "baseline" 4; one of "terminated" is undecided, and one has an error."""
    rows = [
        row("baseline", number, "Ann", ("Ann", "it") if number < 4 else ("the", "it", "Ann")) for number in range(20)
    ]
    rows += [row("words", number, "Ann", ("Ann",) if number < 18 else ("Bob",)) for number in range(20)]
    rows += [row("terminated", 0, "Ann", ("Ann",)), row("terminated", 1, "Ann", cut=True)]
    return [*rows, row("terminated", 2, "Ann", error="The context is too long.")]


def figures(rows):
    return {figure.title: figure for figure in VIEW.figures(STUDY.findings(rows), STUDY)}


def tables(rows):
    return {table.title: table for table in VIEW.tables(STUDY.findings(rows), STUDY)}


def test_no_answer_has_no_figure():
    for rows in ([], [{"unit": "open 0", "row": "begin"}]):
        assert VIEW.figures(STUDY.findings(rows), STUDY) == []
        assert VIEW.tables(STUDY.findings(rows), STUDY) == []


def test_only_errors_make_a_table_and_no_figure():
    rows = [row("words", 0, "Ann", error="The context has no words of plain letters.")]
    assert VIEW.figures(STUDY.findings(rows), STUDY) == []
    shown = tables(rows)["Passages and answers"].frame
    assert list(shown["Words of the context"]) == ["The context has no words of plain letters."]


def test_the_bars_are_the_shares_with_their_intervals():
    figure = figures(many_rows())["Last words found"]
    undecided, found = figure.chart.figure.data
    assert list(found.x) == [0.2, 0.9, 0.5]
    for place, (right, passages) in enumerate([(4, 20), (18, 20), (1, 2)]):
        expected = proportion(right, passages)
        assert found.x[place] + found.error_x.array[place] == pytest.approx(expected.high)
        assert found.x[place] - found.error_x.arrayminus[place] == pytest.approx(expected.low)
    assert (list(undecided.x), list(undecided.base)) == ([0.0, 0.0, 0.5], [0.2, 0.9, 0.5])
    assert undecided.marker.pattern.shape
    assert figure.sentence.startswith("With words of the context the model finds the most last words, 90 % (95 %: ")
    assert "with any word the fewest, 20 %" in figure.sentence
    assert "Hatched" in figure.sentence


def test_without_undecided_passages_nothing_is_hatched():
    figure = figures([row("words", number, "Ann", ("Ann",)) for number in range(3)])["Last words found"]
    assert len(figure.chart.figure.data) == 1
    assert "Hatched" not in figure.sentence
    assert "finds 100 %" in figure.sentence


def test_pairs_are_drawn_to_both_sides():
    rows = [each for each in many_rows() if each["variant"] != "terminated"]
    figure = figures(rows)["Pairs of variants on the same passages"]
    first, second = figure.chart.figure.data
    assert (list(first.x), list(second.x)) == ([0], [14])
    assert first.marker.pattern.shape != second.marker.pattern.shape
    assert "words of the context finds more than any word" in figure.sentence
    frame = tables(rows)["Differences between variants"].frame
    assert frame.iloc[0].to_dict() == {
        "First": "any word",
        "Second": "words of the context",
        "Passages": 20,
        "Only first": 0,
        "Only second": 14,
        "p": p_text(2 * 0.5**14),
        "p corrected": p_text(2 * 0.5**14),
        "Differ": "yes",
    }


def test_a_difference_within_chance_is_not_claimed():
    rows = [row("baseline", 0, "Ann", ("Ann",)), row("words", 0, "Ann", ("Bob",))]
    assert "No two variants" in figures(rows)["Pairs of variants on the same passages"].sentence
    assert list(tables(rows)["Differences between variants"].frame["Differ"]) == ["not certain"]


def test_frequent_answers_stand_above_the_true_words():
    figure = figures(many_rows())["Most frequent answers"]
    *panels, truths = figure.chart.figure.data
    assert [panel.name for panel in panels] == [LABELS[variant] for variant in ("baseline", "words", "terminated")]
    assert list(panels[0].x) == [0.8, 0.2]
    assert list(figure.chart.figure.layout.yaxis.ticktext) == ["the", "Ann"]
    assert list(truths.x) == [1.0]
    assert len({panel.marker.pattern.shape for panel in figure.chart.figure.data}) == 4


def test_answers_that_are_all_different_have_no_most_frequent_one():
    rows = [row("words", number, "Ann", (word,)) for number, word in enumerate(("Ann", "Bob", "Eve"))]
    assert "Most frequent answers" not in figures(rows)
    assert "Most frequent answers" in figures([*rows, row("words", 3, "Ann", ("Bob",))])


def test_ranks_of_the_truth_add_up_to_all_passages():
    figure = figures(many_rows())["Rank of the right word"]
    for place in range(3):
        assert sum(trace.x[place] for trace in figure.chart.figure.data) == pytest.approx(1.0)
    baseline, words, terminated = map(rank_counts, STUDY.findings(many_rows()).variants)
    assert baseline == {FIRST: 4, "third to fifth": 16}
    assert words == {FIRST: 18, NOT_LISTED: 2}
    assert terminated == {FIRST: 1, UNDECIDED: 1}
    assert "With any word the right word is among the later answers of 16 further passages (80 %)" in figure.sentence


@given(st.lists(st.tuples(st.sampled_from(VARIANTS), st.integers(1, 9) | st.none(), st.booleans()), min_size=1))
def test_first_ranks_and_undecided_are_those_of_the_findings(drawn):
    rows = []
    for number, (variant, rank, cut) in enumerate(drawn):
        words = (*"bcdefghij"[: rank - 1], "a") if rank else () if cut else ("b",)
        rows.append(row(variant, number, "a", words, cut=cut))
    for result in STUDY.findings(rows).variants:
        counts = rank_counts(result)
        assert counts[FIRST] == result.right
        assert counts[UNDECIDED] == result.undecided
        assert counts.total() == result.passages


def test_passages_mark_the_right_answer_and_its_rank():
    frame = tables(many_rows())["Passages and answers"].frame
    assert list(frame["#"]) == list(range(1, 21))
    assert frame["Any word"][0] == "✓ Ann 37 %, it 14 %"
    assert frame["Rank, any word"][10] == "3"
    assert frame["Rank, words of the context"][19] == "–"
    shown = list(frame["A word that ends the text"][:4])
    assert shown == ["✓ Ann 37 %", "undecided", "The context is too long.", ""]


def test_columns_are_explained():
    for table in VIEW.tables(STUDY.findings(many_rows()), STUDY):
        assert set(table.help) <= set(table.frame.columns)


def test_a_unit_that_began_again_counts_once():
    rows = [row("words", 0, "Ann", ("Bob",)), {"unit": "open 0", "row": "begin"}, row("words", 0, "Ann", ("Ann",))]
    assert list(tables(rows)["Variants"].frame["Found"]) == [1]


def test_hostile_text_is_only_text():
    rows = [row("words", number, HOSTILE, (HOSTILE,), context=HOSTILE * 9 + "\n\x00") for number in range(2)]
    for figure in VIEW.figures(STUDY.findings(rows), STUDY):
        drawn = json.dumps(figure.chart.figure.to_plotly_json(), default=list)
        assert "<img" not in drawn
        assert "$x" not in drawn
    shown = tables(rows)["Passages and answers"].frame["Passage"][0]
    assert shown.startswith("…")
    assert shown.endswith("↵␀")


def test_rows_of_a_real_run_are_shown(tiny_model_folder):
    from relens import load_model

    study = ClozeStudy(passages=("The cat sat on the mat, and the dog sat on the cat", "1 2 three"), expansions=40)
    rows = list(StudyRun(study, StudyContext(load_model(str(tiny_model_folder), device="cpu", dtype="float32"))))
    shown = VIEW.figures(study.findings(rows), study)
    assert shown[0].title == "Last words found"
    assert all(figure.sentence.endswith(".") and figure.chart.alt for figure in shown)
    frame = tables(rows)["Variants"].frame
    assert list(frame["Passages"] + frame["Errors"]) == [2] * len(VARIANTS)
    for length in range(len(rows)):  # followed live
        VIEW.figures(study.findings(rows[:length]), study)
        VIEW.tables(study.findings(rows[:length]), study)


# ------------------------------------------------------------------------------------------------ settings


def script():
    import json

    import streamlit as st

    from relens.errors import RelensError
    from relens.studies.study import Study
    from relens_dashboard.studies.cloze import VIEW
    from tests.app.fakes import checks_here

    st.session_state["study"] = None
    if st.session_state["given"] is None:
        return
    try:
        study = VIEW.settings(Study.from_json(json.loads(st.session_state["given"])))
        st.caption(VIEW.extent(study, checks_here()["study_checks"].check(study)))
        st.session_state["study"] = study
    except RelensError as error:
        st.error(error.sentence)


def page(study: ClozeStudy) -> AppTest:
    test = AppTest.from_function(script, default_timeout=30)
    test.session_state["given"] = json.dumps(study.to_json())
    test.run()
    assert not test.exception
    return test


def complaint(test: AppTest) -> str:
    assert not test.exception
    assert test.session_state["study"] is None
    return test.error[0].value


@pytest.mark.parametrize(
    "study",
    [
        ClozeStudy(),
        ClozeStudy(count=3, variants=("no_stop", "words"), top_k=None, answers=7, answers_with_end=2, expansions=99),
        ClozeStudy(passages=("a b", '{"c": 1} d\ne'), expansions=10_000_000),
    ],
)
def test_untouched_settings_stay(study):
    kept = page(study).session_state["study"]
    assert set(kept.variants) == set(study.variants)
    assert kept == ClozeStudy.from_json(study.to_json() | {"variants": list(kept.variants)})


def test_another_study_has_its_own_values_once_the_widgets_were_gone():
    test = page(ClozeStudy(count=10, top_k=40))
    for study in (ClozeStudy(), ClozeStudy(count=3, top_k=None), ClozeStudy(passages=("a b",)), ClozeStudy(count=10)):
        test.session_state["given"] = None
        test.run()
        test.session_state["given"] = json.dumps(study.to_json())
        assert test.run().session_state["study"] == study


def test_widgets_make_the_study():
    test = page(ClozeStudy(count=10))
    test.number_input(key="cloze_count").set_value(None).run()
    assert test.session_state["study"] == ClozeStudy()
    test.number_input(key="cloze_count").set_value(3)
    test.number_input(key="cloze_top_k").set_value(None)
    test.number_input(key="cloze_expansions").set_value(50)
    test.button_group(key="cloze_variants").set_value(["words"])
    assert test.run().session_state["study"] == ClozeStudy(count=3, top_k=None, expansions=50, variants=("words",))
    assert "3 passages under 1 variant: " in test.caption[-1].value
    assert "at most 150 times" in test.caption[-1].value


def test_pasted_passages_become_part_of_the_study():
    test = page(ClozeStudy())
    test.button_group(key="cloze_source").set_value("Paste").run()
    assert "Paste at least one" in complaint(test)
    test.text_area(key="cloze_paste").set_value('{"text": "Ann met “Bob”"}\n\n{"text": "a b"}\n').run()
    assert test.session_state["study"].passages == ('Ann met "Bob"', "a b")
    test.text_area(key="cloze_paste").set_value('{"text": "a b"}\nc d').run()
    assert complaint(test) == "Line 2 of the passages is not JSON."
    test.text_area(key="cloze_paste").set_value("a b\n?").run()
    assert complaint(test) == "Line 2 of the passages does not end with a word."
    test.number_input(key="cloze_count").set_value(1).run()
    assert test.session_state["study"].passages == ("a b",)
    test.text_area(key="cloze_paste").set_value("a b\n" * cloze_settings.MOST_PASTED).run()
    assert "upload a file" in complaint(test)


def test_an_uploaded_file_becomes_part_of_the_study():
    test = page(ClozeStudy())
    test.button_group(key="cloze_source").set_value("Upload").run()
    assert "Upload a file" in complaint(test)
    test.file_uploader(key="cloze_upload").upload(
        "lambada.jsonl", b'{"text": "a b"}\n{"text": "c d"}', "text/plain"
    ).run()
    assert test.session_state["study"].passages == ("a b", "c d")
    test.number_input(key="cloze_count").set_value(1).run()
    assert test.session_state["study"].passages == ("a b",)


def test_settings_without_meaning_are_one_sentence():
    test = page(ClozeStudy())
    test.button_group(key="cloze_variants").set_value([]).run()
    assert complaint(test) == "“Variants” must have at least 1, not 0."


def test_a_number_beyond_its_bounds_is_not_taken():
    test = page(ClozeStudy())
    test.number_input(key="cloze_expansions").set_value(100_001).run()
    assert test.session_state["study"] == ClozeStudy()


def test_a_source_of_another_study_is_forgotten():
    test = page(ClozeStudy(passages=("a b",)))
    assert test.session_state["cloze_source"] == cloze_settings.KEPT
    test.session_state["given"] = json.dumps(ClozeStudy().to_json())
    assert test.run().session_state["study"] == ClozeStudy()


def test_passages_that_do_not_fit_into_a_run_are_counted():
    line = "é" * 9_000 + " end"
    with pytest.raises(LimitError, match="the first 18 of them") as caught:
        cloze_settings.uploaded_passages("\n".join([line] * 30).encode())
    assert "980,000" in caught.value.sentence
    fitting = cloze_settings.uploaded_passages("\n".join([line] * 30).encode(), 18)
    assert len(json.dumps(ClozeStudy(passages=fitting).to_json())) < 1_000_000
    with pytest.raises(LimitError, match="upload a file"):
        cloze_settings.pasted_passages("a " * cloze_settings.MOST_PASTED)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "There are no passages."),
        (b"a b\n\xff\xfe c", "Line 2 of the passages is not UTF-8."),
        (b'{"text": 3}', 'Line 1 of the passages is not a JSON object with a "text".'),
        (b"[" * 100_000, "Line 1 of the passages has 100,000 characters, more than the limit of 20,000."),
        (b'{"text": ' + b"[" * 90_000, "Line 1 of the passages is not JSON."),
    ],
)
def test_bad_files_are_one_sentence(data, sentence):
    with pytest.raises((QueryError, LimitError)) as caught:
        cloze_settings.uploaded_passages(data)
    assert str(caught.value) == sentence


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20).map(lambda text: f"x{text} end"), max_size=5))
def test_lines_of_a_paste_and_of_a_file_are_the_same(texts):
    lines = [json.dumps({"text": text}) for text in texts] or [json.dumps({"text": "a b"})]
    pasted = cloze_settings.pasted_passages("\r\n".join(lines))
    assert pasted == cloze_settings.uploaded_passages("\n".join(lines).encode())
    assert [passage.text for passage in ClozeStudy(passages=pasted).read()]


def test_own_passages_are_counted_where_they_are_described():
    assert f"{len(own_passages())} short passages" in page(ClozeStudy()).caption[0].value


def test_unanswerable_passages_are_shown_as_such():
    rows = [row("baseline", number, "Ann" if number < 2 else "1969", ("Ann",)) for number in range(3)]
    shown = tables(rows)
    assert list(shown["Variants"].frame["Unanswerable"]) == [1]
    assert list(shown["Variants"].frame["Passages"]) == [2]
    places = shown["Passages and answers"].frame[f"Rank, {LABELS['baseline']}"]
    assert list(places) == ["1", "1", "unanswerable"]
    (baseline,) = STUDY.findings(rows).variants
    assert rank_counts(baseline).total() == 2
    assert "100 %" in figures(rows)["Last words found"].sentence
    assert VIEW.figures(STUDY.findings(rows[2:]), STUDY) == []


def test_the_form_counts_unanswerable_passages():
    study = ClozeStudy(passages=("Ann met Bob in May. They left in 1969.", "Ann met Bob. Then Bob left"))
    assert "1 passage ends in a word that is not of plain letters alone." in page(study).caption[-1].value
    assert "plain letters" not in page(ClozeStudy(count=3)).caption[-1].value
