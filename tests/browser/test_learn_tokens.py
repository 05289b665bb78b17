"""Encodings with the real tokenizer and model: counted while typed, scored, and opened again by the address."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from relens.learn.text_encodings import text_encodings
from relens.models.loading import load_tokenizer
from relens.runs.specification import StudySpecification
from relens.studies.encodings import EncodingsStudy
from tests.browser.server import PATIENCE, parameter

pytestmark = pytest.mark.browser

MODEL = "smollm2-135m"


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1440, "height": 1400})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    yield page
    context.close()


def test_a_text_is_drawn_and_its_encodings_are_scored(page, dashboard):
    page.goto(f"{dashboard.url}/tokens?tokens_text=The+dog")
    expected = text_encodings("The dog", load_tokenizer(MODEL))
    expect(page.get_by_text(f"This text of 7 bytes has {expected.count} encodings")).to_be_visible()
    tokens = page.locator(".relens-pieces").first.locator(".token")
    assert [token.inner_text().split("\n") for token in tokens.all()] == [
        [piece.label, str(piece.token)] for piece in expected.canonical
    ]
    arcs = page.locator('[id^="arc-"]')
    expect(arcs).to_have_count(len(expected.graph.arcs))

    page.locator(".st-key-tokens_ask_run button:visible:enabled").first.click()
    run_id = parameter(page, "run")
    verdict = page.locator('[data-tokens-verdict="run"][data-run-status="done"]').first
    expect(verdict).to_contain_text(f"the other {expected.count - 1} share")
    study = StudySpecification.from_json(dashboard.store.get(run_id).specification).study
    assert study == EncodingsStudy(text="The dog", samples=0)
    expect(verdict.locator("p").first).to_have_text(study.verdict(dashboard.store.rows(run_id))[0])
    expect(page.locator(".js-plotly-plot").first).to_be_visible()

    page.goto(f"{dashboard.url}/tokens?run={run_id}")
    expect(page.locator('[data-tokens-verdict="run"]').first).to_contain_text(f"the other {expected.count - 1} share")
    expect(page.get_by_label("Text", exact=True)).to_have_value("The dog")


def test_samples_of_the_model_are_compared(page, dashboard):
    study = EncodingsStudy(text="", samples=24, sample_tokens=6)
    run_id = dashboard.store.submit(StudySpecification(MODEL, study))
    page.goto(f"{dashboard.url}/tokens?samples={run_id}")
    verdict = page.locator('[data-tokens-verdict="samples"][data-run-status="done"]').first
    expect(verdict).to_contain_text("texts that the model wrote from the beginning of a text")
    expect(verdict).to_contain_text("3 % of GPT-2's samples")


def test_the_glossary_is_searched(page, dashboard):
    page.goto(f"{dashboard.url}/glossary")
    expect(page.locator("dt", has_text="Frontier")).to_be_visible()
    page.get_by_label("Search", exact=True).fill("lattice")
    expect(page.locator("dt", has_text="Frontier")).to_have_count(0)
    expect(page.locator("dt", has_text="Lattice")).to_be_visible()
