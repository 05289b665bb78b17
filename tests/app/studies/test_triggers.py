"""The pages of trigger search: settings drawn by Streamlit, figures, tables and cards on rows of random models."""

from __future__ import annotations

import itertools
import json
import math
import typing

import pytest
from streamlit.testing.v1 import AppTest

from relens.runs.specification import StudySpecification
from relens.studies.rows import rows_of
from relens.studies.study import StudyContext, StudyRun
from relens.triggers.hits import HIT_TYPES
from relens.triggers.model.model_list import model_folder
from relens.triggers.score_row import WordScoreRow, sentence
from relens.triggers.search.check_study import TriggerCheckStudy
from relens.triggers.search.search_settings import SearchSettings
from relens.triggers.search.trigger_study import TriggerStudy
from relens_dashboard.report import study_report
from relens_dashboard.studies import trigger_charts as charts
from relens_dashboard.studies.attention_chart import attention_chart
from relens_dashboard.studies.trigger_score import score_html, without_attention
from relens_dashboard.studies.trigger_words import hit_label, trigger_masker
from relens_dashboard.studies.triggers import VIEW
from relens_dashboard.study_files import study_file
from tests.engine.triggers.conftest import dialogue_model, vocabulary

pytestmark = pytest.mark.heavy

__all__ = ["dialogue_model", "vocabulary"]  # fixtures of this module too

HOSTILE = "<img src=x onerror=alert(1)>$x$"
STUDY = TriggerStudy(
    model="toy",
    lists=("normal", "random"),
    count=2,
    targets=("word3 word4", "nobody knows word3"),
    normal="greedy",
    search=SearchSettings(shortlist=4, sweeps=2, restarts=3),
)


@pytest.fixture
def toy(tmp_path, monkeypatch, dialogue_model):
    """A random dialogue model, in a cache of its own."""
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RELENS_DEVICE", "cpu")
    dialogue_model.save(model_folder("toy"))


@pytest.fixture
def rows(toy):
    return list(StudyRun(STUDY, StudyContext(typing.cast("typing.Any", None))))


def figures(rows, study=STUDY):
    return {figure.title: figure for figure in VIEW.figures(study.findings(rows), study)}


def tables(rows, study=STUDY):
    return {table.title: table.frame for table in VIEW.tables(study.findings(rows), study)}


def test_no_rows_show_nothing():
    assert VIEW.figures(STUDY.findings([]), STUDY) == []
    assert VIEW.tables(STUDY.findings([]), STUDY) == []


def test_every_part_of_a_run_can_be_shown(rows):
    for length in range(0, len(rows), 3):
        findings = STUDY.findings(rows[:length])
        VIEW.figures(findings, STUDY)
        VIEW.tables(findings, STUDY)
    assert list(figures(rows)) == [
        "Targets reached",
        "Objective by sweep",
        "Word by word",
        "Targets reached by restarts",
    ]
    assert list(tables(rows)) == ["Hits", "Targets", "Searches", "Left out"]


def test_the_hit_table_counts_the_triggers(rows):
    triggers = rows_of(rows, "trigger")
    frame = tables(rows)["Hits"]
    for _, line in frame.iterrows():
        own = [row for row in triggers if row["list"] == line["List"]]
        assert line["Targets"] == len(own)
        assert line["Reached"] == sum(row["hits"][line["Hit type"]] for row in own)
    assert len(frame) == 3 * len(HIT_TYPES)
    drawn = figures(rows)["Targets reached"].chart.figure
    assert sum(len(trace.x) for trace in drawn.data) == len(frame)
    assert [line for trace in drawn.data for line in trace.x] == [
        pytest.approx(reached / targets) for reached, targets in zip(frame["Reached"], frame["Targets"], strict=True)
    ]


def test_a_line_for_each_target(rows):
    triggers, frame = rows_of(rows, "trigger"), tables(rows)["Targets"]
    assert len(frame) == len(triggers) == 5
    for (_, line), row in zip(frame.iterrows(), triggers, strict=True):
        assert line["Reached"] == (line["Margin"] > 0) or abs(line["Margin"]) < 1e-3
        assert line["Lowest over T_out"] == pytest.approx(
            min(row["token_log_probs"]) - row["thresholds"]["out"], abs=1e-3
        )
    assert tables(rows)["Left out"]["Words it does not know"].tolist() != ["–"]


def test_losses_are_means_that_stay_where_a_search_ended(rows):
    for trace in figures(rows)["Objective by sweep"].chart.figure.data:
        assert list(trace.y) == sorted(trace.y, reverse=True)  # no sweep makes it worse


@pytest.mark.parametrize(("most", "hitting"), [(1, 0), (1, 1), (4, 0), (4, 1), (4, 3), (5, 2), (5, 5)])
def test_fewer_restarts_counted_one_by_one(most, hitting):
    for drawn in range(1, most + 1):
        chosen = list(itertools.combinations(range(most), drawn))
        expected = sum(any(place < hitting for place in places) for places in chosen) / len(chosen)
        assert charts.any_of(most, hitting, drawn) == pytest.approx(expected)


def test_bars_are_the_costs_and_lines_the_thresholds(rows):
    row = STUDY.findings(rows).triggers[0]
    figure = charts.word_bars([charts.target_bars(row, None)]).figure
    assert list(figure.data[0].y) == [-value for value in row.score.token_log_probs]
    heights = sorted(shape.y0 for shape in figure.layout.shapes)
    assert heights == pytest.approx([-row.score.thresholds.out, -row.score.thresholds.out + math.log(2)])


def old_row(**more):
    """A row of an old store."""
    row = {
        "input": ["hello", HOSTILE, "<eou>"],
        "input_log_probs": [-1.0, -12.0, -0.5],
        "target": ["you", "idiot"],
        "reply": [HOSTILE],
        "reply_ends": True,
        "token_log_probs": [-1.0, -2.0, -0.5],
        "margins": {"o-greedy": -1.0, "o-sample-min-k1": 0.5},
        "hits": {"o-greedy": False, "o-sample-min-k1": True},
        "threshold_out": -3.0,
        "threshold_in": -4.0,
        **more,
    }
    return WordScoreRow.read(row)


def test_a_card_is_escaped_and_masked():
    html = score_html(old_row(), "o-sample-min-k1", trigger_masker(STUDY))
    assert "<img" not in html
    assert "idiot" not in html
    assert "i····" in html
    assert 'data-hit="o-sample-min-k1" data-is-hit="true"' in html
    assert 'data-hit="o-greedy" data-is-hit="false"' in html
    assert "which is not the target" in html
    assert "idiot" in score_html(old_row(), "o-sample-min-k1", None)
    same = score_html(old_row(reply=["you", "idiot"]), "o-sample-min-k1", None)
    assert "which is the target" in same
    assert "which is the target" not in score_html(old_row(reply=["you", "idiot"], reply_ends=False), "o-greedy", None)


def test_a_map_of_attention_has_padding_as_one_column():
    row = old_row(
        input=["<pad>", "<pad>", "hello", HOSTILE, "<eou>"],
        attention=[[0.1, 0.2, 0.3, 0.4, 0.0], [0.0, 0.0, 0.0, 0.9, 0.1], [0.05, 0.05, 0.2, 0.2, 0.5]],
    )
    chart = attention_chart(row.score, trigger_masker(STUDY))
    (drawn,) = chart.figure.data
    shown = [[0.3, 0.3, 0.4, 0.0], [0.0, 0.0, 0.9, 0.1], [0.1, 0.2, 0.2, 0.5]]
    assert [list(line) for line in drawn.z] == [pytest.approx(line) for line in shown]
    across, down = chart.figure.layout.xaxis.ticktext, chart.figure.layout.yaxis.ticktext
    assert (across[0], across[1], across[-1]) == ("padding", "hello", "end")
    assert list(down) == ["you", "i····", "end"]
    assert not [text for text in (*across, *down, *drawn.customdata[1]) if "<img" in text]
    assert "“i····” looks at" in chart.alt
    assert "(90 %)" in chart.alt
    assert "all equal" not in chart.alt
    plain = attention_chart(old_row(attention=[[0.3333] * 3, [0.5, 0.25, 0.25], [0.0, 0.0, 1.0]]).score, None)
    assert len(plain.figure.data[0].x) == 3
    assert "all equal" in plain.alt


def test_why_there_is_no_map_is_said():
    assert "no attention" in without_attention(old_row(attention=None).score)
    assert "Verify" in without_attention(old_row().score)


def test_no_label_is_read_as_a_tag():
    chart = charts.word_bars([charts.target_bars(old_row(target=[HOSTILE, "you"]), None)])
    assert not [text for text in chart.figure.layout.xaxis.ticktext if "<" in text or "$" in text]


def test_words_are_masked_in_rows_and_settings():
    study = TriggerStudy(targets=("you are a nincompoop",))
    mask = VIEW.mask(study)
    row = {"row": "trigger", "target": ["you", "nincompoop"], "inputs": [["nincompoop"]], "reply": ["stupid"], "x": 1}
    assert "nincompoop" not in json.dumps(list(mask.rows([row, study.to_json()])))
    assert mask("stupid you") == "s····· you"


def test_hit_types_and_words_in_plain_language():
    assert len({hit_label(kind.name) for kind in HIT_TYPES}) == len(HIT_TYPES)
    assert sentence(["<pad>", "do", "n't", "<eou>"]) == "do n't"


# The page --------------------------------------------------------------------------------------------------------


def script(data: dict) -> None:
    """A page of the form alone."""
    from types import SimpleNamespace

    import streamlit as st

    from relens.studies.study import Study
    from relens_dashboard.components import study_form
    from relens_dashboard.study_views import study_views
    from tests.app.fakes import checks_here

    kind = data["kind"]
    study_form.presets = lambda kind: {"This": Study.from_json(data)}
    st.session_state["submitted"], _ = study_form.study_form(
        SimpleNamespace(**checks_here()), study_views()[kind], ["m"], None
    )


@pytest.fixture(autouse=True)
def _own_presets(monkeypatch):
    from relens_dashboard.components import study_form

    monkeypatch.setattr(study_form, "presets", study_form.presets)  # put back what a script changed


def form(study):
    shown = AppTest.from_function(script, kwargs={"data": study.to_json()}, default_timeout=20).run()
    assert not shown.exception
    return shown


@pytest.mark.parametrize(
    "study",
    [
        STUDY,
        TriggerStudy(model="toy", hit_type="io-sample-avg-k7", search=SearchSettings("averaged", 9, 8, 7, 6, 5, True)),
        TriggerStudy(model="toy", lists=(), targets=("word1", "word2 c"), count=3, epsilon=0.5, input_weight=2.0),
        TriggerStudy(model="toy", search=SearchSettings(shortlist=100_000, sweeps=9_999, restarts=900)),
    ],
)
def test_the_fields_hold_the_study(toy, study):
    shown = form(study)
    assert [error.value for error in shown.error] == []
    specification = shown.session_state["submitted"]
    assert specification.study == study
    assert specification.model == "toy"
    assert [box.label for box in shown.selectbox if box.label == "Model"] == []


def test_without_a_model_the_page_has_a_link_to_the_training(tmp_path, monkeypatch):
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path))
    shown = form(STUDY)
    assert "Train a dialogue model first" in shown.error[0].value
    assert shown.session_state["submitted"] is None
    assert "no dialogue model yet" in shown.info[0].value


def test_a_study_without_targets_is_refused(toy):
    shown = form(TriggerStudy(model="toy", lists=("mal",)))
    shown.button_group(key="triggers_lists").set_value([]).run()
    assert "no list of targets" in shown.error[0].value
    assert shown.session_state["submitted"] is None


class TestPage:
    @pytest.fixture
    def page(self, toy, dashboard, services, rows):
        run_id = services.store.submit(StudySpecification("toy", STUDY))
        services.store.change(run_id, status="done", progress={"units": 6, "units_done": 6, "seconds_total": 2.0})
        services.store.add_rows(run_id, rows)
        dashboard.run()
        dashboard.switch_page("../../pages/triggers.py")
        dashboard.query_params["run"] = run_id
        page = dashboard.run()
        assert not page.exception
        return page

    def html(self, page):
        return "\n".join(element.proto.body for element in page.get("html"))

    def test_opens_a_card_masked(self, page):
        assert "data-trigger-card" in self.html(page)
        assert "word3 word4" not in self.html(page)
        page.toggle(key=VIEW.shown_key).set_value(True).run()
        assert "word3 word4" in self.html(page)

    def test_one_card_is_revealed_alone(self, page):
        (reveal,) = [toggle for toggle in page.toggle if toggle.label == "Show the words of this one"]
        reveal.set_value(True).run()
        assert "word3 word4" in self.html(page)
        assert not page.toggle(key=VIEW.shown_key).value
        assert not any("word3 word4" in option for box in page.selectbox for option in box.options)

    def test_the_card_has_a_map_of_attention(self, page, rows):
        assert all(row["attention"] for row in rows_of(rows, "trigger"))
        assert "Attention of each word of the target" in self.html(page)

    def test_a_report_and_a_file_are_masked_as_the_page_is(self, page, services, rows):
        value = page.query_params["run"]
        run = services.store.get(value if isinstance(value, str) else value[0])
        mask, specification = trigger_masker(STUDY), StudySpecification("toy", STUDY)
        findings = STUDY.findings(rows)
        shown, shown_tables = VIEW.figures(findings, STUDY), VIEW.tables(findings, STUDY)
        report = study_report(run, specification, VIEW, findings.verdict, shown, shown_tables, mask).decode()
        assert "Word by word" in report
        file = study_file(rows, "csv", mask).decode()
        for text in (report, file):
            assert "nobody knows" not in text
            assert "word3" not in text
        assert "n·····" in report
        assert "n\\u00b7" in file  # as JSON writes it within a cell

    def test_a_check_is_a_run_of_its_own(self, page, services, rows):
        page.button(key="triggers_verify_all").click().run()
        assert not page.exception
        value = page.query_params["check"]
        check_id = value if isinstance(value, str) else value[0]
        check = StudySpecification.from_json(services.store.get(check_id).specification).study
        assert isinstance(check, TriggerCheckStudy)
        assert [list(pair.target) for pair in check.pairs] == [row["target"] for row in rows_of(rows, "trigger")]
        found = list(StudyRun(check, StudyContext(typing.cast("typing.Any", None))))
        services.store.add_rows(check_id, found)
        services.store.change(check_id, status="done")
        page.run()
        assert not page.exception
        assert 'data-trigger-check="done"' in self.html(page)
        assert "Verified" in self.html(page)

    def test_a_changed_trigger_is_scored(self, page, services):
        page.toggle(key=VIEW.shown_key).set_value(True).run()
        field = next(field for field in page.text_input if field.label == "Change the trigger")
        assert field.value
        field.set_value("Word1 isn't word2").run()
        page.button(key="triggers_score_again").click().run()
        value = page.query_params["check"]
        check_id = value if isinstance(value, str) else value[0]
        check = StudySpecification.from_json(services.store.get(check_id).specification).study
        assert check.pairs[0].input == ("word1", "is", "n't", "word2")
        services.store.add_rows(check_id, list(StudyRun(check, StudyContext(typing.cast("typing.Any", None)))))
        services.store.change(check_id, status="done")
        page.run()
        assert self.html(page).count("data-trigger-card") == 2

    def test_nothing_typed_is_answered_with_a_sentence(self, page):
        page.toggle(key=VIEW.shown_key).set_value(True).run()
        next(field for field in page.text_input if field.label == "Change the trigger").set_value(" ").run()
        page.button(key="triggers_score_again").click().run()
        assert any("at least one word" in error.value for error in page.error)
