"""A study from its page to its verdict, with the real model: run, reload, stop, resume, report."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from engine.query import Encoding
from engine.runs.specification import StudySpecification
from engine.studies.bias import BiasStudy
from engine.studies.bias_variants import Variant
from engine.studies.study import done_units
from tests.browser.server import PATIENCE

pytestmark = pytest.mark.browser
expect.set_options(timeout=PATIENCE)

TINY = BiasStudy(
    template="The {subject} was trained in {outcome}",
    subjects=("man", "woman"),
    outcomes=("art", "science", "math"),
    variants=BiasStudy().variants[:2],
    draws=200,
    position_draws=0,
)


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1440, "height": 1400}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    yield page
    context.close()


def button(page, key):
    """A button that can be pressed; Streamlit keeps a second, hidden one for other widths."""
    return page.locator(f".st-key-{key} button:visible:enabled").first


def field(page, key, kind="input"):
    return page.locator(f".st-key-{key} {kind}").first


def open_run(page, dashboard, run_id=""):
    page.goto(f"{dashboard.url}/bias{'?' + urlencode({'run': run_id}) if run_id else ''}")
    expect(page.locator(".relens-title", has_text="Bias")).to_be_visible()


def fill(page, key, text, kind="input"):
    place = field(page, key, kind)
    place.fill(text)
    place.press("Tab")
    expect(page.locator("[data-testid=stApp]")).to_have_attribute("data-test-script-state", "notRunning")


def test_a_tiny_study_from_its_settings_to_its_report(page, dashboard):
    open_run(page, dashboard)
    fill(page, "bias_outcomes", "art\nscience\nmath", "textarea")
    chosen = page.locator(".st-key-bias_variants input").first
    chosen.focus()
    for _ in range(len(BiasStudy().variants) - len(TINY.variants)):
        chosen.press("Backspace")
    fill(page, "bias_draws", "200")
    fill(page, "bias_positions", "0")
    button(page, "study_run_button").click()
    page.wait_for_url("**run=*")
    run_id = page.url.split("run=")[1].split("&")[0]
    expect(page.locator('[data-run-status="done"]')).to_be_visible()
    run = dashboard.store.get(run_id)
    assert StudySpecification.from_json(run.specification).study == TINY

    verdict = page.locator("[data-study-verdict]")
    expect(verdict).to_contain_text("Exactly, with canonical encodings with a prefix")
    said = verdict.inner_text()
    assert said.split("\n")[0] == TINY.verdict(dashboard.store.rows(run_id))[0]
    page.reload()
    expect(verdict).to_contain_text("Exactly")
    assert verdict.inner_text() == said
    expect(page.locator(".js-plotly-plot").first).to_be_visible()

    with page.expect_download() as waiting:
        button(page, "study_report").click()
    report = waiting.value.path().read_text(encoding="utf-8")
    assert waiting.value.suggested_filename.endswith(".html")
    assert "python -m engine study bias" in report


def test_the_report_draws_its_figures_without_a_network(page, dashboard, browser, tmp_path):
    run_id = dashboard.store.submit(StudySpecification("smollm2-135m", TINY))
    open_run(page, dashboard, run_id)
    expect(page.locator('[data-run-status="done"]')).to_be_visible()
    with page.expect_download() as waiting:
        button(page, "study_report").click()
    waiting.value.save_as(tmp_path / "report.html")
    with_policy = browser.new_context(offline=True, accept_downloads=True)
    report = with_policy.new_page()
    complaints = []
    report.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    report.on("pageerror", lambda error: complaints.append(str(error)))
    report.goto((tmp_path / "report.html").as_uri())
    expect(report.locator(".plotly-graph-div .main-svg").first).to_be_visible()
    with report.expect_download() as picture:
        report.get_by_role("button", name="Save as SVG").first.click()
    assert "<svg" in picture.value.path().read_text(encoding="utf-8")
    assert complaints == []
    with_policy.close()


def test_a_study_that_was_stopped_goes_on(page, dashboard):
    long = BiasStudy(
        outcomes=("art", "science"),
        variants=(Variant(exact=True), Variant(Encoding.ALL, edited=True)),
        costly_draws=3000,
        position_draws=0,
    )
    run_id = dashboard.store.submit(StudySpecification("smollm2-135m", long))
    open_run(page, dashboard, run_id)
    expect(page.get_by_text("1 of 2 done")).to_be_visible()
    button(page, "study_stop_button").click()
    expect(page.locator('[data-run-status="stopped"]')).to_be_visible()
    assert len(done_units(dashboard.store.rows(run_id))) == 1
    button(page, "study_resume_button").click()
    expect(page.get_by_text("1 of 2 done")).to_be_visible()
    button(page, "study_stop_button").click()
    expect(page.locator('[data-run-status="stopped"]')).to_be_visible()
    begun = [row["unit"] for row in dashboard.store.rows(run_id) if row["row"] == "begin"]
    assert begun == [unit.key for unit in (*long.units(), long.units()[1])]
