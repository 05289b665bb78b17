"""The studies from their pages to their verdicts, with the real model: run, reload, stop, resume, report."""

from __future__ import annotations

import csv

import pytest
from playwright.sync_api import expect

from relens.query import Encoding
from relens.runs.specification import StudySpecification
from relens.studies.bias import BiasStudy
from relens.studies.bias_variants import Variant
from relens.studies.rows import done_units, rows_of
from relens.studies.toxicity import demonstration
from relens_dashboard.study_views import study_views
from tests.browser.server import PATIENCE, wait_until
from tests.browser.study_page import StudyPage

pytestmark = pytest.mark.browser

TINY = BiasStudy(
    template="The {subject} was trained in {outcome}",
    subjects=("man", "woman"),
    outcomes=("art", "science", "math"),
    variants=BiasStudy().variants[:2],
    draws=200,
    position_draws=0,
)


@pytest.fixture
def open_study(browser, dashboard):
    """A function that opens a study's page, or a run on it, in a browser of its own."""
    contexts = []

    def make(kind, run_id=""):
        contexts.append(browser.new_context(viewport={"width": 1440, "height": 1400}, accept_downloads=True))
        page = StudyPage(contexts[-1].new_page(), dashboard, kind)
        page.open(run_id)
        return page

    yield make
    for context in contexts:
        context.close()


def shows_the_findings(page, dashboard, run_id):
    """The page shows the verdict and the figures of the run's rows; the study."""
    study = StudySpecification.from_json(dashboard.store.get(run_id).specification).study
    rows = dashboard.store.rows(run_id)
    assert done_units(rows) == {unit.key for unit in study.units()}
    findings = study.findings(rows)
    figures = study_views()[page.kind].figures(findings, study)
    page.shows(findings.verdict, [figure.chart.alt for figure in figures])
    expect(page.page.locator("[data-testid=stDataFrame]").first).to_be_visible()
    expect(page.page.locator("[data-testid=stException]")).to_have_count(0)
    return study


def test_bias_from_its_settings_to_its_report(open_study, dashboard):
    page = open_study("bias")
    page.fill("outcomes", "art\nscience\nmath", "textarea")
    chosen = page.field("variants")
    chosen.focus()
    for _ in range(len(BiasStudy().variants) - len(TINY.variants)):
        chosen.press("Backspace")
    page.fill("draws", "200")
    page.fill("positions", "0")
    run_id = page.run()
    assert shows_the_findings(page, dashboard, run_id) == TINY
    expect(page.verdict).to_contain_text("Exactly, with canonical encodings with a prefix")
    page.page.reload()
    shows_the_findings(page, dashboard, run_id)
    name, path = page.saved("study_report")
    assert name.endswith(".html")
    assert "relens study bias" in path.read_text(encoding="utf-8")


def test_cloze(open_study, dashboard):
    page = open_study("cloze")
    page.fill("count", "2")
    page.press("variants", "A word that ends the text", "An ending that is no function word")
    page.fill("expansions", "40")
    study = shows_the_findings(page, dashboard, page.run())
    assert (study.count, study.variants, study.expansions) == (2, ("baseline", "words"), 40)
    expect(page.verdict).to_contain_text("of 2 last words")


def test_knowledge(open_study, dashboard):
    page = open_study("knowledge")
    page.preset("capital", "truth", "Canberra")
    page.fill("pattern", "Sydney|Canberra|Melbourne|Perth|Vienna")
    page.fill("matches", "5")
    page.fill("continuation", "6")
    study = shows_the_findings(page, dashboard, page.run())
    assert (study.truth, study.matches, study.continuation) == ("Canberra", 5, 6)
    expect(page.verdict).to_contain_text("Among all 5 answers")


def test_memorization(open_study, dashboard):
    page = open_study("memorization")
    page.fill("seconds", "1")
    page.press("new_tokens", "1", "2", "4", "8", "32", "64")
    run_id = page.run()
    study = shows_the_findings(page, dashboard, run_id)
    assert (study.seconds, study.new_tokens) == (1.0, (16,))
    addresses = [row for row in dashboard.store.rows(run_id) if str(row.get("text", "")).startswith("https://www.")]
    assert addresses


def test_toxicity_and_its_masks(open_study, dashboard):
    page = open_study("toxicity")
    page.fill("most_inputs", "2")
    page.press("modes", "Without a prompt")
    run_id = page.run()
    study = shows_the_findings(page, dashboard, run_id)
    assert (study.inputs, study.modes) == (demonstration()[:2], ("prompted",))
    sentences = [row["sentence"] for row in rows_of(dashboard.store.rows(run_id), "answer")]
    name, _ = page.saved("study_file_csv")
    assert "masked" in name  # nobody has touched the switch
    for switched, is_shown in enumerate((False, True, False)):
        if switched:
            page.page.locator(".st-key-toxicity_words_shown label").first.click()

        def saved_as_shown(is_shown=is_shown):
            # Until the page has heard of the switch it has the other file, which its name tells.
            name, path = page.saved("study_file_csv")
            return path if ("masked" in name) != is_shown else None

        path = wait_until(saved_as_shown, what="A file as the switch says")
        with path.open(encoding="utf-8-sig", newline="") as file:
            saved = [line["sentence"] for line in csv.DictReader(file) if line["row"] == "answer"]
        assert (saved == sentences) == is_shown
        assert any(word.word in " ".join(saved) for word in study.inputs) == is_shown


def test_the_report_draws_its_figures_without_a_network(open_study, dashboard, browser, tmp_path):
    run_id = dashboard.store.submit(StudySpecification("smollm2-135m", TINY))
    page = open_study("bias", run_id)
    expect(page.ended("done")).to_be_visible()
    _, saved = page.saved("study_report")
    (tmp_path / "report.html").write_bytes(saved.read_bytes())
    with_policy = browser.new_context(offline=True, accept_downloads=True)
    report = with_policy.new_page()
    report.set_default_timeout(PATIENCE)
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


def test_a_study_that_was_stopped_goes_on(open_study, dashboard):
    long = BiasStudy(
        outcomes=("art", "science"),
        variants=(Variant(exact=True), Variant(Encoding.ALL, edited=True)),
        costly_draws=3000,
        position_draws=0,
    )
    store = dashboard.store
    run_id = store.submit(StudySpecification("smollm2-135m", long))

    def begun():
        return [row["unit"] for row in store.rows(run_id) if row["row"] == "begin"]

    def stop():
        page.button("study_stop_button").click()
        wait_until(lambda: store.get(run_id).status == "stopped", what="The end of the run")
        expect(page.ended("stopped")).to_be_visible()

    page = open_study("bias", run_id)
    expect(page.page.get_by_text("1 of 2 done").first).to_be_visible()
    wait_until(lambda: len(begun()) == 2, what="The second piece")
    stop()
    assert len(done_units(store.rows(run_id))) == 1
    page.button("study_resume_button").click()
    # The page said "1 of 2 done" of the stopped run too: only the store tells that it goes on.
    wait_until(lambda: len(begun()) == 3, what="The second piece once more")
    expect(page.page.get_by_text("1 of 2 done").first).to_be_visible()
    stop()
    assert begun() == [unit.key for unit in (*long.units(), long.units()[1])]
