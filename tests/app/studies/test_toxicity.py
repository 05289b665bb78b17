"""The page of the toxicity study: fields to study and back, masks, figures and tables from rows of a small study."""

from __future__ import annotations

import dataclasses

import pytest
from streamlit.testing.v1 import AppTest

from relens.models.loading import load_model
from relens.query import Decoding
from relens.runs.specification import StudySpecification
from relens.studies.sentences import Sentence, find_sentences
from relens.studies.study import Study, StudyContext, StudyRun
from relens.studies.toxicity import PRESETS, ToxicityStudy, demonstration
from relens.studies.toxicity_counts import CharacterCount, Kind
from relens_dashboard.studies.toxicity import VIEW
from relens_dashboard.studies.toxicity_figures import characters_figure, kinds_figure
from relens_dashboard.studies.toxicity_tables import MOST_LINES, masker_of, matches_table, tables

WORDS = ("mat", "sat", "dog")
INPUTS = find_sentences("The cat sat on the mat. Dogs (sat) too! So the cats call the dog. Mat.", WORDS).sentences
SMALL = ToxicityStudy(
    inputs=INPUTS,
    words=WORDS,
    chunk=2,
    decoding=Decoding(top_k=380),
    most_matches=30,
    unprompted_expansions=600,
)


@pytest.fixture(scope="module")
def rows(tiny_model_folder):
    return list(StudyRun(SMALL, StudyContext(load_model(str(tiny_model_folder), device="cpu"))))


@pytest.fixture(scope="module")
def findings(rows):
    return SMALL.findings(rows)


def script(data: dict) -> None:
    """A page of these fields alone, which keeps the study that they describe."""
    import streamlit as st

    from relens.errors import QueryError
    from relens.studies.study import Study
    from relens_dashboard.studies.toxicity import VIEW

    try:
        st.session_state["study"] = VIEW.settings(Study.from_json(data)).to_json()
    except QueryError as error:
        st.session_state["study"] = error.sentence


def page(study: ToxicityStudy) -> AppTest:
    shown = AppTest.from_function(script, kwargs={"data": study.to_json()}, default_timeout=30).run()
    assert not shown.exception
    return shown


def study_of(shown: AppTest):
    """The study that the fields describe, or the complaint about them."""
    assert not shown.exception
    made = shown.session_state["study"]
    return made if isinstance(made, str) else Study.from_json(made)


@pytest.mark.parametrize(
    "study",
    [
        SMALL,
        *PRESETS.values(),
        ToxicityStudy(inputs=demonstration()[:3], modes=("unprompted",), most_matches=50_000),
        ToxicityStudy(decoding=Decoding(top_p=0.9, temperature=0.5), max_tokens=20, prompted_expansions=3),
    ],
)
def test_untouched_fields_give_the_study_they_were_made_of(study):
    assert study_of(page(study)) == study


def test_the_fields_change_the_study():
    shown = page(ToxicityStudy())
    shown.number_input(key="toxicity_most_inputs").set_value(4)
    shown.button_group(key="toxicity_modes").set_value(["prompted"])
    shown.number_input(key="toxicity_top_k").set_value(7)
    shown.number_input(key="toxicity_most_matches").set_value(8)
    shown.number_input(key="toxicity_unprompted_expansions").set_value(9)
    assert study_of(shown.run()) == ToxicityStudy(
        inputs=demonstration()[:4],
        modes=("prompted",),
        decoding=Decoding(top_k=7),
        most_matches=8,
        unprompted_expansions=9,
    )
    assert "4 inputs, 16 searches." in [caption.value for caption in shown.caption]
    shown.button_group(key="toxicity_modes").set_value([])
    assert study_of(shown.run()) == "“Prompting” must have at least 1, not 0."


def test_a_text_and_words_of_ones_own():
    shown = page(ToxicityStudy())
    shown.segmented_control(key="toxicity_source").set_value("Pasted text")
    assert study_of(shown.run()) == "Paste a text."
    shown.text_area(key="toxicity_text").set_value("You idiot! Nothing here.\nA rotten\nplan")
    assert study_of(shown.run()).inputs == (Sentence("You idiot!", "idiot", 4),)
    shown.segmented_control(key="toxicity_words").set_value("My own")
    assert study_of(shown.run()) == "The word list has no words; write one on each line."
    shown.text_area(key="toxicity_own_words").set_value("# mine\nrotten\nnothing")
    study = study_of(shown.run())
    assert study.words == ("rotten", "nothing")
    assert [sentence.word for sentence in study.inputs] == ["Nothing", "rotten"]
    assert study.inputs[1].text == "A rotten plan"
    shown.checkbox(key="toxicity_line_by_line").check()
    assert study_of(shown.run()).inputs[1].text == "A rotten"
    shown.text_area(key="toxicity_own_words").set_value("two words")
    assert study_of(shown.run()).startswith("Line 1 of the word list is not one word")
    shown.text_area(key="toxicity_own_words").set_value("\n".join(f"w{place}" for place in range(5_001)))
    assert study_of(shown.run()) == "The word list has more than 5,000 words."
    shown.text_area(key="toxicity_own_words").set_value("absent")
    assert study_of(shown.run()) == "No sentence of the text has one of the words."
    assert any("0 sentences with one of the words" in caption.value.replace("\\", "") for caption in shown.caption)


def test_the_switch_for_the_words_is_no_setting_of_the_study():
    assert VIEW.shown_key not in {toggle.key for toggle in page(SMALL).toggle}
    assert "masked" in VIEW.notice


def texts_of(shown) -> str:
    return "\n".join(table.frame.to_csv() for table in shown)


def test_tables_are_masked_unless_the_switch_is_on(findings):
    masked, plain = texts_of(tables(findings, masker_of(SMALL))), texts_of(tables(findings, None))
    assert "m··" in masked
    assert not any(word in masked for word in (" mat", " sat", "(sat", " dog"))
    assert "m··" not in plain
    assert "The cat sat on the mat." in plain
    # Without a session, as in a report, the switch is off.
    assert texts_of(VIEW.tables(findings, SMALL)) == masked


def test_the_word_of_an_input_is_masked_also_without_the_list(findings):
    masked = texts_of(tables(findings, masker_of(dataclasses.replace(SMALL, words=("other",)))))
    assert not any(word in masked for word in (" mat", " sat", "(sat", " dog"))


def test_the_figures_show_the_counts_of_the_findings(findings):
    figures = {figure.title: figure for figure in VIEW.figures(findings, SMALL)}
    for title, successes in (("After a prompt", findings.prompted), ("Without a prompt", findings.unprompted)):
        (bars,) = figures[title].chart.figure.data
        assert list(bars.x) == [one.rate.value for one in successes]
        ends = [value + above for value, above in zip(bars.x, bars.error_x.array, strict=True)]
        assert ends == pytest.approx([one.rate.high for one in successes])
        signs = zip(bars.marker.color, bars.marker.pattern.shape, strict=True)
        assert len(set(signs)) == len(successes)
    assert f"on {findings.prompted[0].found} of 3 inputs letter for letter" in figures["After a prompt"].sentence
    drawn = figures["Matches by edit and encoding"].chart.figure.data
    assert sum(sum(bars.y) for bars in drawn) == sum(kind.matches for kind in findings.kinds) > 0
    for bars, is_canonical in zip(drawn, (True, False), strict=True):
        drawn_counts = dict(zip(bars.x, bars.y, strict=True))
        for kind in findings.kinds:
            if kind.is_canonical is is_canonical:
                assert drawn_counts["edited" if kind.is_edited else "exact"] == kind.matches
    alone, replacing = figures["Characters that edits write"].chart.figure.data
    counts = [one + other for one, other in zip(alone.y, replacing.y, strict=True)]
    assert counts == [one.count for one in findings.written[: len(counts)]]


def test_no_figure_shows_a_word(findings):
    for figure in VIEW.figures(findings, SMALL):
        text = figure.sentence + figure.chart.alt + figure.chart.figure.to_json()
        assert not any(f"{word} " in text.replace("format", "") for word in WORDS)


def test_characters_are_drawn_as_text_alone():
    counts = [CharacterCount(character, 1, 1) for character in ("<", "$", "&", " ", "\n", "\u202e")]
    figure = characters_figure(counts, written=True)
    assert list(figure.chart.figure.layout.xaxis.ticktext) == ["&lt;", "&#36;", "&amp;", "␣", "↵", "\ufffd"]
    assert figure.sentence.startswith("Edits write these characters most often: “<” (2)")


def test_one_match_is_singular():
    none = [Kind(is_edited, is_canonical, 0, 0.0) for is_edited in (False, True) for is_canonical in (True, False)]
    one = [dataclasses.replace(none[0], matches=1, share=1.0), *none[1:]]
    assert kinds_figure(one).sentence.startswith("Of 1 match of whole sentences, 1 is the exact text")


def test_the_tables_have_a_line_for_each_variant_input_and_match(findings):
    variants, inputs, matches = tables(findings, None)
    assert len(variants.frame) == 6
    assert list(variants.frame["Found"]) == [one.found for one in (*findings.prompted, *findings.unprompted)]
    assert list(variants.frame["Gained"])[1:4] == [str(one.gained) for one in findings.prompted[1:]]
    assert list(variants.frame["Matches"]) == ["–"] * 4 + [f"{volume.matches:,}" for volume in findings.volumes]
    assert list(inputs.frame["#"]) == [1, 2, 3, 4]
    for key, label in (("canonical", "canonical encoding, exact text"), ("all, edits", "all encodings, one edit")):
        for number, answer in findings.answers["prompted"][key].items():
            if answer.found:
                assert inputs.frame[label][number - 1] == "found"
        for number, answer in findings.answers["unprompted"][key].items():
            assert inputs.frame[f"Whole, {label}"][number - 1] == answer.matches
    assert list(inputs.frame["canonical encoding, exact text"])[3] == "–"  # it begins with its word
    assert len(matches.frame) == min(MOST_LINES, len(findings.matches))
    for table in (variants, inputs, matches):
        assert set(table.help) <= set(table.frame.columns)
    assert len(matches_table(findings.matches * MOST_LINES, None).frame) == MOST_LINES


def test_half_a_study_has_its_figures(rows):
    nothing = SMALL.findings([])
    assert VIEW.figures(nothing, SMALL) == VIEW.tables(nothing, SMALL) == []
    for end in range(0, len(rows), max(1, len(rows) // 25)):
        half = SMALL.findings(rows[:end])
        for figure in VIEW.figures(half, SMALL):
            assert figure.sentence
        for table in VIEW.tables(half, SMALL):
            assert set(table.help) <= set(table.frame.columns)


def test_on_the_page_the_tables_follow_the_switch(dashboard, services, rows):
    run_id = services.store.submit(StudySpecification("tiny", SMALL))
    services.store.add_rows(run_id, rows)
    services.store.change(run_id, status="done", row_count=len(rows))
    dashboard.query_params["run"] = run_id
    dashboard.run()
    shown = dashboard.switch_page("../../pages/toxicity.py").run()
    shown.query_params["run"] = run_id
    shown.run()
    assert not shown.exception

    def sentences() -> str:
        return "\n".join(frame.value.to_csv() for frame in shown.dataframe)

    def files() -> str:
        return "\n".join(button.proto.help for button in shown.get("download_button"))

    assert "The cat s·· on the m··." in sentences()
    assert "Words are masked in it" in files()
    shown.toggle(key=VIEW.shown_key).set_value(True).run()
    assert "The cat sat on the mat." in sentences()
    assert "masked" not in files()
    shown.selectbox(key="study_preset_toxicity").select_index(0).run()
    shown.run()
    assert shown.toggle(key=VIEW.shown_key).value  # how one wants to see it does not depend on the next study
    shown.switch_page("../../pages/bias.py").run()
    shown.switch_page("../../pages/toxicity.py").run()
    shown.query_params["run"] = run_id
    shown.run()
    assert not shown.toggle(key=VIEW.shown_key).value
    assert "The cat s·· on the m··." in sentences()
