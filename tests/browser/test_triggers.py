"""Trigger search as a person does it, at toy size: train a dialogue model, search in it, open a trigger, verify it."""

from __future__ import annotations

import secrets
import shutil

import pytest
from playwright.sync_api import expect

from relens.runs.specification import StudySpecification
from relens.studies.rows import rows_of
from relens.triggers.model.model_list import model_folder, model_names
from relens.triggers.search.ablation_study import AblationStudy
from relens.triggers.search.trigger_study import TriggerStudy
from tests.browser.server import parameter
from tests.browser.study_page import StudyPage
from tests.engine.triggers.conftest import dialogue_model, vocabulary

__all__ = ["dialogue_model", "vocabulary"]  # fixtures of this module too

pytestmark = pytest.mark.browser

TALKS = "\n\n".join(
    f"hello how are you {word}\ni am {word} , and you ?\nyou are boring .\nshut up , {word} !\nwhy ? {word} is nice"
    for word in ("fine", "well", "tired", "happy", "good", "here") * 8
)


@pytest.fixture
def name():
    """A name for a model that is there for this test alone."""
    made = f"browser-test-{secrets.token_hex(4)}"
    yield made
    shutil.rmtree(model_folder(made), ignore_errors=True)


@pytest.fixture
def context(browser):
    made = browser.new_context(viewport={"width": 1440, "height": 1600}, accept_downloads=True)
    yield made
    made.close()


def test_from_conversations_to_a_verified_trigger(context, dashboard, name, tmp_path):
    corpus = tmp_path / "talks.txt"
    corpus.write_text(TALKS)
    page = StudyPage(context.new_page(), dashboard, "dialogue-model")
    page.open()
    page.press("source", "A file")
    page.page.locator(".st-key-dialogue-model_file input[type=file]").set_input_files(corpus)
    page.settle()
    for field, value in (("name", name), ("pairs", "150"), ("embedding", "8"), ("hidden", "16")):
        page.fill(field, value)
    page.field("context").click()
    page.page.get_by_role("option", name="attention", exact=True).click()
    page.settle()
    run_id = page.run()
    assert name in model_names()
    assert dashboard.store.get(run_id).model == name
    expect(page.verdict).to_contain_text(f"The model '{name}' was trained on")
    expect(page.figures).to_have_count(2)

    page.page.get_by_text(f"Search for triggers of {name}").first.click()
    page.page.wait_for_url("**/triggers**")
    triggers = StudyPage(page.page, dashboard, "triggers")
    expect(triggers.field("model")).to_have_value(name)
    for field, value in (("count", "2"), ("shortlist", "5"), ("sweeps", "2"), ("restarts", "2")):
        triggers.fill(field, value)
    run_id = triggers.run()
    study = StudySpecification.from_json(dashboard.store.get(run_id).specification).study
    assert isinstance(study, TriggerStudy)
    assert (study.model, study.count, study.search.shortlist) == (name, 2, 5)
    rows = dashboard.store.rows(run_id)
    expect(triggers.verdict).to_contain_text("an input reaches")
    expect(triggers.figures.first.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    card = triggers.page.locator("[data-trigger-card]").first
    expect(card).to_contain_text("Greedy reply")
    assert "boring" not in triggers.page.locator("[data-testid=stMain]").inner_text()

    triggers.button("triggers_verify_all").click()
    count = len(rows_of(rows, "trigger"))
    verified = triggers.page.locator('[data-trigger-check="done"]')
    expect(verified).to_contain_text(f"{count} of {count} agree with the search")
    expect(triggers.page.locator(".st-key-trigger_card")).to_contain_text("Attention of each word of the target")
    triggers.page.get_by_role("textbox", name="Change the trigger").fill("hello how are you")
    triggers.page.keyboard.press("Tab")
    triggers.settle()
    triggers.button("triggers_score_again").click()
    changed = triggers.page.locator(".st-key-trigger_check_card")
    expect(changed.locator("[data-trigger-card]")).to_contain_text("hello")
    expect(changed.locator('[data-testid=stPlotlyChart][aria-label^="A map of attention"]')).to_be_visible()
    saved, path = triggers.saved("study_file_csv")
    assert saved.endswith("-masked.csv")
    assert "boring" not in path.read_text()
    expect(triggers.page.locator("[data-testid=stException]")).to_have_count(0)

    check = parameter(triggers.page, "check")
    again = StudyPage(page.page, dashboard, "trigger-check")
    again.open(check)
    expect(again.page.locator(".st-key-trigger_check_card [data-trigger-card]")).to_contain_text("hello")


def test_how_hard_one_must_search(context, dashboard, name, dialogue_model):
    dialogue_model.save(model_folder(name))
    page = StudyPage(context.new_page(), dashboard, "trigger-ablation")
    page.page.goto(f"{dashboard.url}/trigger-ablation?dialogue={name}")
    expect(page.field("model")).to_have_value(name)
    page.press("lists", "should never say")  # off: it has no word that this model knows
    page.fill("targets", "word3 word4\nword5", "textarea")
    for field, value in (("count", "1"), ("shortlists", "2, 4"), ("sweeps", "2"), ("restarts", "2")):
        page.fill(field, value)
    run_id = page.run()
    study = StudySpecification.from_json(dashboard.store.get(run_id).specification).study
    assert isinstance(study, AblationStudy)
    assert (study.model, study.lists, study.shortlists, study.restarts) == (name, ("normal",), (2, 4), 2)
    cells = AblationStudy().findings(dashboard.store.rows(run_id)).cells
    assert {(cell.target_list, cell.shortlist, cell.restarts, cell.targets) for cell in cells} == {
        (of_list, shortlist, restarts, targets)
        for of_list, targets in (("own", 2), ("normal", 1))
        for shortlist in (2, 4)
        for restarts in (1, 2)
    }
    expect(page.verdict).to_contain_text("Of 2 targets of the list 'own', 2 words at a place and 1 restart reached")
    page.figures_say([*["Lines", "Lines by time"] * 2, "Lines by sweep"])
    expect(page.page.locator("[data-testid=stException]")).to_have_count(0)
