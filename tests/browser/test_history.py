"""Runs as a person comes back to them, in a browser: named, pinned, deleted, carried away, compared."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from relens.query import Distribution, Limits, Query, Sampling
from relens.runs.run_file import read_run
from relens.runs.specification import SearchSpecification
from tests.browser.server import PATIENCE, download, wait_until

pytestmark = pytest.mark.browser

FIELDS = r" (?P<field>art|science|medicine|math)"


def search_specification(subject, traversal):
    query = Query(FIELDS, prefix=f"The {subject} was trained in")
    return SearchSpecification("smollm2-135m", query, traversal, Limits(seconds=60.0))


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1440, "height": 1400}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    yield page
    context.close()


@pytest.fixture
def runs(page, dashboard):
    """A sample and a distribution about a man, a distribution about a woman: all done."""
    page.goto(f"{dashboard.url}/history")  # whoever looks sees to the worker
    specifications = (
        search_specification("man", Distribution()),
        search_specification("woman", Distribution()),
        search_specification("man", Sampling(count=200, seed=3)),
    )
    made = [dashboard.store.submit(specification) for specification in specifications]
    for run in made:
        wait_until(lambda run=run: dashboard.store.get(run).status == "done", what=f"The end of {run}")
    return made


def button(page, key):
    """A button that can be pressed; Streamlit keeps a second, hidden one for other widths."""
    return page.locator(f".st-key-{key} button:visible:enabled").first


def open_history(page, dashboard, **parameters):
    page.goto(f"{dashboard.url}/history?{urlencode(parameters)}")
    expect(page.locator(".relens-title", has_text="History")).to_be_visible()


def test_a_run_is_named_pinned_deleted_and_brought_back(page, dashboard, runs):
    run, store = runs[0], dashboard.store
    open_history(page, dashboard, runs=run)
    expect(page.locator(".st-key-run_details")).to_contain_text("The man was trained in")
    name = page.locator(f".st-key-name_{run} input")
    name.fill("Trained men")
    name.press("Enter")
    wait_until(lambda: store.get(run).name == "Trained men", what="The name")
    expect(page.locator(".st-key-run_details b")).to_have_text("Trained men")
    button(page, "history_pin").click()
    wait_until(lambda: store.get(run).pinned, what="The pin")
    expect(page.locator(".st-key-history_pin")).to_contain_text("Unpin")

    button(page, "history_delete").click()
    expect(page.locator(".st-key-undo_banner")).to_contain_text("Deleted “Trained men”")
    assert store.get(run) is None
    button(page, "undo_button").click()
    expect(page.locator(".st-key-undo_banner")).to_have_count(0)
    kept = store.get(run)
    assert (kept.name, kept.pinned, kept.row_count) == ("Trained men", True, len(store.rows(run)))

    expect(page.locator("[data-testid=stApp]")).to_have_attribute("data-test-script-state", "notRunning")
    search = page.locator(".st-key-find input")
    search.fill("TRAINED men")
    search.press("Enter")
    expect(page.get_by_text("1 run", exact=True)).to_be_visible()
    wait_until(lambda: "find=" in page.evaluate("location.href"), what="The search in the address")


def test_a_name_follows_the_store_and_not_somebody_who_types(page, dashboard, runs):
    run, store = runs[1], dashboard.store
    open_history(page, dashboard, runs=run)
    name = page.locator(f".st-key-name_{run} input")
    name.fill("two  blanks")
    name.press("Enter")
    expect(name).to_have_value("two blanks")
    assert store.get(run).name == "two blanks"
    store.rename(run, "another person's")
    expect(name).to_have_value("another person's")
    name.focus()
    name.press_sequentially(" and mi")
    store.rename(run, "a third person's")
    expect(page.locator(".st-key-run_details b")).to_have_text("a third person's")  # the page has looked since
    expect(name).to_have_value("another person's and mi")
    name.press_sequentially("ne")
    name.press("Enter")
    expect(page.locator(".st-key-run_details b")).to_have_text("another person's and mine")
    expect(name).to_have_value("another person's and mine")
    assert store.get(run).name == "another person's and mine"
    store.rename(run, "")


def test_a_run_leaves_as_a_file_and_comes_back_as_another(page, dashboard, runs, tmp_path):
    run, store = runs[2], dashboard.store
    open_history(page, dashboard, runs=run)
    saved = download(button(page, "history_export"))
    path = tmp_path / saved.suggested_filename
    saved.save_as(path)
    assert path.suffix == ".relens"
    assert list(read_run(path.read_bytes()).rows) == [
        {name: value for name, value in row.items() if name != "number"} for row in store.rows(run)
    ]
    known = {other.id for other in store.find(limit=10_000)}
    before = len(known)
    page.locator(".st-key-import_popover button").first.click()
    page.locator('[data-testid="stFileUploaderDropzoneInput"]').set_input_files(path)
    wait_until(lambda: store.count() == before + 1, what="The import")
    (imported,) = [other for other in store.find(limit=10_000) if other.id not in known]
    assert imported.origin["id"] == run
    expect(page.locator(".st-key-run_details")).to_contain_text("gives the same rows")
    expect(page.locator(".st-key-run_details")).to_contain_text(imported.id)
    button(page, "history_repeat").click()
    new = known | {imported.id}
    again = wait_until(
        lambda: next((other for other in store.find(limit=10_000) if other.id not in new and not other.is_live), None),
        what="The repeated run",
    )
    rows = [[{**row, "seconds": 0.0} for row in store.rows(one)] for one in (run, again.id)]
    assert json.dumps(rows[0]) == json.dumps(rows[1])
    assert store.count() == before + 2  # the file was taken in once
    for extra in (imported.id, again.id):
        store.delete(extra)


def test_two_runs_are_compared_by_a_link(page, dashboard, runs):
    first, second, _ = runs
    open_history(page, dashboard, runs=f"{first},{second}")
    page.locator(".st-key-runs_chosen").get_by_role("link", name="Compare 2 runs").click()
    page.wait_for_url("**/compare?runs=*")
    address = page.url
    assert f"{first}%2C{second}" in address or f"{first},{second}" in address
    for _ in range(2):
        comparison = page.locator("[data-compared]")
        expect(comparison).to_contain_text("Both are exact")
        expect(comparison).to_contain_text("Between A and B")
        expect(page.locator(".js-plotly-plot").first).to_be_visible()
        expect(page.locator("[data-overlap]")).to_contain_text("4 strings are in both")
        page.reload()
