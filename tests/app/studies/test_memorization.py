"""The page of the memorization study: fields to study and back, figures and tables from rows of a real small study."""

from __future__ import annotations

import dataclasses
import json

import pytest
from streamlit.testing.v1 import AppTest

from relens.errors import QueryError
from relens.models.loading import load_model
from relens.query import Decoding
from relens.studies.canaries import FILE, RECIPE, Planted, extraction_study, made_up, query_parts
from relens.studies.memorization import PRESETS, SEARCH, MemorizationStudy
from relens.studies.memorization_findings import memorization_findings
from relens.studies.study import Study, StudyContext, StudyRun
from relens.studies.validators import Answers, InText, OfForm, OnList, Unchecked, open_validator
from relens_dashboard.charts import BLUE
from relens_dashboard.studies import kept_text, memorization_charts
from relens_dashboard.studies.memorization import VIEW
from relens_dashboard.studies.memorization_tables import MOST_LINES
from relens_dashboard.studies.memorization_validators import planted_fields

pytestmark = pytest.mark.heavy

SMALL = MemorizationStudy(
    prefix="The (cat|dog)",
    pattern="s? (sat|[a-d]{1,2})",
    decoding=Decoding(),
    # Time for the search to find all of it on a busy machine too.
    seconds=3.0,
    max_tokens=16,
    new_tokens=(1, 4),
    validator=OfForm(".*[abc]t|.*a"),
)
LISTED = dataclasses.replace(SMALL, validator=OnList(("The cat a", "The dogs sat", "The fox ran")))


@pytest.fixture(scope="module")
def rows(tiny_model_folder):
    return list(StudyRun(SMALL, StudyContext(load_model(str(tiny_model_folder), device="cpu"))))


@pytest.fixture(scope="module")
def listed_rows(tiny_model_folder):
    return list(StudyRun(LISTED, StudyContext(load_model(str(tiny_model_folder), device="cpu"))))


def script(data: dict) -> None:
    """A page of these fields alone, which keeps their study."""
    import streamlit as st

    from relens.errors import RelensError
    from relens.runs.study_checks import Checked
    from relens.studies.study import Study
    from relens_dashboard.studies.memorization import VIEW

    try:
        study = VIEW.settings(Study.from_json(data))
        st.caption(VIEW.extent(study, Checked(len(study.units()))))
        st.session_state["result"] = study.to_json()
    except RelensError as error:
        st.session_state["result"] = error.sentence


def page(study: MemorizationStudy) -> AppTest:
    shown = AppTest.from_function(script, kwargs={"data": study.to_json()}, default_timeout=30).run()
    assert not shown.exception
    return shown


def result(shown: AppTest):
    """The study of the fields, or the sentence of an error."""
    held = shown.session_state["result"]
    return held if isinstance(held, str) else Study.from_json(held)


@pytest.mark.parametrize(
    "study",
    [
        SMALL,
        LISTED,
        *PRESETS.values(),
        dataclasses.replace(SMALL, validator=InText("/data/text.txt", whole_words=True), new_tokens=()),
        dataclasses.replace(SMALL, validator=Answers(allowed=True, seconds=1.0), matches=7, batch=3, seed=5),
        dataclasses.replace(SMALL, decoding=Decoding(top_k=5, top_p=0.5, temperature=2.0), new_tokens=(3, 300 // 20)),
    ],
)
def test_untouched_fields_give_the_study_they_were_made_of(study):
    assert result(page(study)) == study


def test_the_fields_change_the_study():
    shown = page(PRESETS["addresses"])
    shown.text_input(key="memorization_prefix").set_value("call ")
    shown.text_input(key="memorization_pattern").set_value("[0-9]{3}")
    shown.number_input(key="memorization_seconds").set_value(3.0)
    shown.number_input(key="memorization_top_k").set_value(5)
    shown.button_group(key="memorization_new_tokens").set_value([8, 2])
    shown.number_input(key="memorization_matches").set_value(9)
    study = result(shown.run())
    assert study == dataclasses.replace(
        PRESETS["addresses"],
        prefix="call ",
        pattern="[0-9]{3}",
        seconds=3.0,
        decoding=Decoding(top_k=5),
        new_tokens=(2, 8),
        matches=9,
    )
    assert "3 methods, about 9.0 s in all." in [caption.value for caption in shown.caption]


def choose(shown: AppTest, words: str) -> AppTest:
    shown.segmented_control(key="memorization_validator").set_value(words)
    shown.run()
    assert not shown.exception
    return shown


def test_the_fields_of_each_validator():
    shown = choose(page(SMALL), "is on a list")
    assert result(shown) == "The list of known values is empty."
    shown.text_area(key="memorization_values").set_value("one\n\n two\none\n")
    assert result(shown.run()).validator == OnList(("one", " two"))
    shown = choose(shown, "is in a text")
    assert result(shown) == "To look for matches in a text, name a file or a folder."
    shown.text_input(key="memorization_path").set_value(" /data/a.txt ")
    shown.checkbox(key="memorization_whole_words").check()
    assert result(shown.run()).validator == InText("/data/a.txt", True)
    assert result(choose(shown, "is any match")).validator == Unchecked()
    shown = choose(shown, "has a form")
    shown.text_input(key="memorization_form").set_value("a(")
    assert result(shown.run()) == "In the form that counts: missing ), unterminated subpattern, at position 1."
    shown.text_input(key="memorization_form").set_value("a")
    assert result(shown.run()).validator == OfForm("a")


def test_the_page_says_that_the_operator_forbids_requests_to_web_servers(monkeypatch):
    monkeypatch.setenv("RELENS_HTTPS", "0")
    shown = choose(page(SMALL), "is a web page")
    assert "operator of this machine has forbidden" in result(shown)
    assert shown.toggle(key="memorization_web").disabled


def test_requests_to_web_servers_need_a_switch_that_describes_them():
    shown = choose(page(SMALL), "is a web page")
    assert result(shown) == "Asking web servers whether an address exists has to be allowed first."
    assert not shown.toggle(key="memorization_web").value
    assert any("The owners of these servers see the requests" in caption.value for caption in shown.caption)
    shown.toggle(key="memorization_web").set_value(True)
    assert result(shown.run()).validator == Answers(allowed=True)


def test_a_malformed_expression_is_refused_before_the_run():
    shown = page(SMALL)
    shown.text_input(key="memorization_pattern").set_value("[a")
    assert "pattern" in result(shown.run())
    shown.text_input(key="memorization_pattern").set_value("a" * 200_000)
    assert "more than the limit" in result(shown.run())


def planted() -> Planted:
    canaries = made_up(3, 2, 0)
    return Planted(*query_parts(canaries), canaries, "tiny", 40, 0, 0.5)


def test_a_planted_model_fills_in_its_fields():
    values = planted_fields(json.dumps(planted().to_json()).encode())
    shown = choose(page(PRESETS["addresses"]), "is on a list")
    for key, value in values.items():
        shown.session_state[key] = value
    wanted = extraction_study(planted())
    assert result(shown.run()) == dataclasses.replace(wanted, decoding=PRESETS["addresses"].decoding)
    for data in (
        b"",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b"\xff",
        json.dumps({**planted().to_json(), "steps": "x"}).encode(),
    ):
        with pytest.raises(QueryError, match="no list of planted secrets"):
            planted_fields(data)


def test_a_file_of_planted_secrets_fills_in_the_fields():
    shown = choose(page(PRESETS["addresses"]), "is on a list")
    data = json.dumps(planted().to_json()).encode()
    shown.file_uploader(key="memorization_canaries").upload("canaries.json", data, "application/json").run()
    assert not shown.exception
    assert result(shown) == dataclasses.replace(extraction_study(planted()), decoding=PRESETS["addresses"].decoding)
    assert shown.text_input(key="memorization_prefix").value == planted().prefix
    shown.file_uploader(key="memorization_canaries").upload("other.json", b"{}", "application/json").run()
    assert "This file is no list of planted secrets" in shown.error[0].value.replace("\\", "")
    assert result(shown).prefix == planted().prefix


def test_the_page_names_the_command_that_plants_secrets():
    shown = choose(page(PRESETS["addresses"]), "is on a list")
    assert [code.value for code in shown.code] == [RECIPE]
    assert any(FILE in text.value for text in shown.markdown)


def test_an_uploaded_text_is_the_text_of_the_validator(tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path))
    shown = choose(page(SMALL), "is in a text")
    shown.file_uploader(key="memorization_text").upload("mine.txt", b"The cat sat", "text/plain").run()
    validator = result(shown).validator
    assert isinstance(validator, InText)
    assert open_validator(validator).is_valid("The cat")
    assert not open_validator(validator).is_valid("The dog")


def test_an_uploaded_text_is_kept_once_and_the_oldest_goes(tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path))
    monkeypatch.setattr(kept_text, "MOST_KEPT", 2)
    first = kept_text.keep_text("Grüße".encode())
    assert first == kept_text.keep_text("Grüße".encode())
    assert first.read_text(encoding="utf-8") == "Grüße"
    assert first.is_relative_to(tmp_path)
    for place in range(3):
        kept_text.keep_text(f"text {place}".encode())
    assert len(list(first.parent.iterdir())) == 2
    for data in (b"", b"\xff"):
        with pytest.raises(QueryError):
            kept_text.keep_text(data)


def figures_of(rows, study=SMALL):
    return VIEW.figures(memorization_findings(rows), study)


def tables_of(rows, study=SMALL):
    return VIEW.tables(memorization_findings(rows), study)


def test_the_figures_show_the_counts_of_the_findings(rows):
    methods = memorization_findings(rows).methods
    figures = figures_of(rows)
    assert [figure.title for figure in figures] == ["Valid strings over time", "Pace", "Wasted attempts"]
    over_time, fast, waste = (figure.chart.figure for figure in figures)
    assert [line.y[-1] for line in over_time.data] == [method.tally.new_valid for method in methods]
    assert {line.line.shape for line in over_time.data} == {"hv"}
    assert (over_time.data[0].line.color, over_time.data[0].line.dash) == (BLUE, "solid")
    assert len({(line.line.dash, line.marker.symbol) for line in over_time.data}) == len(methods)
    (bars,) = fast.data
    assert list(bars.x) == [method.valid_a_second for method in methods]
    assert len(set(bars.marker.pattern.shape)) == 3 or not any(method.tally.new_valid for method in methods[1:])
    completed, repeated = waste.data
    assert list(completed.x) == [method.tally.completion_rate for method in methods]
    assert list(repeated.x) == [method.tally.duplicate_share for method in methods]
    for figure in figures:
        assert figure.sentence.endswith(".")
        assert figure.sentence in figure.chart.alt


def test_without_validation_nothing_is_called_valid(tiny_model_folder):
    study = dataclasses.replace(SMALL, validator=Unchecked(), seconds=1.0)
    unchecked = list(StudyRun(study, StudyContext(load_model(str(tiny_model_folder), device="cpu"))))
    figures, tables = figures_of(unchecked, study), tables_of(unchecked, study)
    assert [figure.title for figure in figures] == ["Matches over time", "Pace", "Wasted attempts"]
    assert all("Nothing was checked" in figure.sentence for figure in figures[:2])
    drawn = [figure.title + figure.chart.alt + figure.chart.figure.to_json() for figure in figures]
    listed = [" ".join((*table.frame.columns, *table.help.values())) for table in tables]
    assert not any("valid" in text.lower() for text in (*drawn, *listed, *study.verdict(unchecked)))
    assert all(set(table.help) <= set(table.frame.columns) for table in tables)
    assert "nobody checks" in VIEW.introduction


def test_recall_is_shown_where_it_is_known(listed_rows):
    (figure, *_) = figures_of(listed_rows, LISTED)
    assert figure.title == "Known values found"
    search = memorization_findings(listed_rows).search
    assert figure.chart.figure.data[0].y[-1] == pytest.approx(search.recall) == pytest.approx(2 / 3)
    assert "shortest path: 2 of 3, the last as match" in figure.sentence
    methods, _ = tables_of(listed_rows, LISTED)
    assert methods.frame["Found of known"][0] == "66.7 %"


def test_half_a_study_has_its_figures(rows):
    assert figures_of([]) == tables_of([]) == []
    for end in range(0, len(rows), max(1, len(rows) // 25)):
        for figure in figures_of(rows[:end]):
            assert figure.sentence
        for table in tables_of(rows[:end]):
            assert set(table.help) <= set(table.frame.columns)


def test_the_tables_have_a_line_for_each_method_and_string(rows):
    methods, strings = tables_of(rows)
    assert list(methods.frame["Method"]) == ["shortest path", "sampled, 1 token", "sampled, 4 tokens"]
    assert list(methods.frame["Valid"]) == [method.tally.new_valid for method in memorization_findings(rows).methods]
    texts = [row["text"] for row in rows if row["row"] == "match"]
    assert sorted(strings.frame["String"]) == sorted(set(texts))
    by_search = {row["text"] for row in rows if row["row"] == "match" and row["unit"] == SEARCH}
    assert strings.frame["Search, s"].notna().sum() == len(by_search)
    for table in (methods, strings):
        assert set(table.help) <= set(table.frame.columns)


def hand_rows(count: int) -> list[dict]:
    def own(unit: str, texts: list[str]) -> list[dict]:
        tally = {"attempts": count, "matches": count, "valid": count, "new": count, "new_valid": count, "tokens": count}
        return [
            {"unit": unit, "row": "begin"},
            {"unit": unit, "row": "method", "label": f"<b>{unit}", "known": None, "device": "cpu"},
            *(
                {"unit": unit, "row": "match", "text": text, "seconds": place / 100, "valid": True, "matches": place}
                for place, text in enumerate(texts, 1)
            ),
            {"unit": unit, "row": "batch", "seconds": count / 100, **tally},
        ]

    return own(SEARCH, [f"<img src=x>{place}\n" for place in range(count)]) + own("sampled 1", ["<i>"] * count)


def test_long_studies_stay_small_and_text_is_only_text():
    rows = hand_rows(5_000)
    over_time, *others = figures_of(rows)
    for line in over_time.chart.figure.data:
        assert len(line.x) == len(line.y) == len(line.marker.size) <= memorization_charts.MOST_STEPS + 2
        assert (line.x[-1], line.y[-1]) == (50.0, 5_000)
    methods, strings = tables_of(rows)
    assert len(strings.frame) == MOST_LINES
    assert strings.title == "Strings, the first 1,000 of 5,001"
    assert not any("\n" in text for text in strings.frame["String"])
    assert methods.frame["Against best n"][0] == 1.0
    for figure in (over_time, *others):
        drawn = figure.chart.figure.to_json()
        assert not any(sign in drawn for sign in ("<img", "<b>", "\\u003cb\\u003e", "<i>"))


def test_the_sentence_compares_the_methods_after_the_same_time():
    def own(unit: str, seconds: list[float], end: float) -> list[dict]:
        tally = dict.fromkeys(("attempts", "matches", "valid", "new", "new_valid", "tokens"), len(seconds))
        return [
            {"unit": unit, "row": "method", "label": unit, "validator": "of_form"},
            *({"unit": unit, "row": "match", "text": str(at), "seconds": at, "valid": True} for at in seconds),
            {"unit": unit, "row": "batch", "seconds": end, **tally},
        ]

    over_time, *_ = figures_of(own(SEARCH, [1.0, 2.0, 9.0], 10.0) + own("sampled 1", [1.5], 5.0))
    assert "After 5.0 s the search had found 2 different valid strings, the best of sampling (sampled 1) 1." in (
        over_time.sentence
    )
