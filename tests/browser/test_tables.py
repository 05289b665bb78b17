"""A table is searched and enlarged, and the text of a cell copied; it saves nothing that a spreadsheet would run."""

from __future__ import annotations

import re

import pytest

from relens.query import Query
from relens.runs.specification import SearchSpecification
from tests.browser.server import PATIENCE

pytestmark = pytest.mark.browser

FORMULA = "=1+1"


@pytest.fixture
def table(browser, dashboard):
    """A table with a cell that a spreadsheet would run, in a browser that lets its clipboard be read."""
    dashboard.store.request_stop(dashboard.store.submit(SearchSpecification("smollm2-135m", Query(FORMULA))))
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{dashboard.url}/history?find=%3D1%2B1")
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    table = page.locator("[data-testid=stDataFrame]").first
    table.wait_for()
    page.evaluate("navigator.clipboard.writeText('before')")
    yield table
    context.close()


def copied(table) -> str:
    table.page.keyboard.press("Control+c")
    return str(table.page.evaluate("navigator.clipboard.readText()"))


def first_text(table) -> tuple[float, float]:
    """In the first line's text."""
    box = table.bounding_box()
    return box["x"] + 135, box["y"] + 50


def test_its_buttons_search_and_enlarge_it_and_save_nothing(table):
    table.hover()
    buttons = table.page.get_by_role("button", name=re.compile("Table of"))
    buttons.first.wait_for()
    assert [name.split(":")[0] for name in buttons.evaluate_all("all => all.map(one => one.ariaLabel)")] == [
        "Show/hide columns",
        "Search",
        "Fullscreen",
    ]


def test_cells_are_not_copied_as_a_table_but_the_text_of_an_opened_one_is(table):
    mouse = table.page.mouse
    mouse.click(*first_text(table))
    assert copied(table) == "before"
    mouse.dblclick(*first_text(table))
    table.page.locator("[id^=gdg-overlay]").wait_for()
    mouse.click(*first_text(table), click_count=3)
    assert copied(table) == FORMULA
