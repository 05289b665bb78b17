"""Every page, empty and with results, light and dark: whatever axe calls serious or critical is not there.

The page is as high as what it holds, since axe does not judge the contrast of what it would have to scroll to.
"""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.every_page import DRAWN, EMPTY, RUNS, fill, filled
from tests.browser.server import PATIENCE

pytestmark = pytest.mark.browser

#: Streamlit's menu of a narrow window puts the links of a section into a `div` within the list, which axe complains of
#: at the list and at each link. Nothing on our side of it can change that; readers of the page hear the links all the
#: same. No other page is let off these rules.
OF_THE_MENU = ("list", "listitem")

THEMES = ("light", "dark")
GRAVE = ("serious", "critical")


@pytest.fixture(scope="module")
def with_results(browser, dashboard):
    """The addresses of the pages that show something. A page is open meanwhile, so that the worker is kept up."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(dashboard.url)
    addresses = fill(dashboard)
    page.close()
    return addresses


@pytest.fixture
def open_page(browser, dashboard):
    """A function that opens an address, and waits until it is drawn."""
    contexts = []

    def make(address, width=1440, height=900):
        contexts.append(browser.new_context(viewport={"width": width, "height": height}))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"{dashboard.url}/{address}")
        settle(page)
        return page

    yield make
    for context in contexts:
        context.close()


def settle(page):
    """Wait until all is drawn: what is on its way out is pale, and would be complained about."""
    expect(page.locator("h1, dialog iframe").first).to_be_attached()
    expect(page.locator("[data-testid=stApp]")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.locator("[data-stale=true], [data-testid=stSkeleton]")).to_have_count(0)
    # A colour on its way from one theme to the other is neither's.
    page.wait_for_function(
        "() => document.getAnimations().every((one) => !(one instanceof CSSTransition) || one.playState !== 'running')"
    )


def grow(page):
    """Make the window as high as the page."""
    high = page.locator("[data-testid=stMain]").evaluate("node => node.scrollHeight")
    page.set_viewport_size({"width": page.viewport_size["width"], "height": min(high + 20, 8000)})
    settle(page)


def complaints(page, without=()):
    """What axe calls serious or critical, in the page and in each frame of it: the rule, the element, why."""
    violations = []
    for frame in page.frames:
        for violation in Axe().run(frame).response["violations"]:
            if violation["impact"] in GRAVE and violation["id"] not in without:
                violations += [
                    (violation["id"], node["html"][:200], node["failureSummary"][:300]) for node in violation["nodes"]
                ]
    return violations


def expect_no_complaints(page, without=()):
    """None in either theme, but for the rules `without`; the page follows what the browser prefers."""
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        expect(page.locator("[data-testid=stApp]")).to_have_css("color-scheme", theme)
        violations = []
        for _ in range(3):
            # The clocks of the page go on while axe looks, and what is being drawn anew is pale: look again then.
            settle(page)
            violations = complaints(page, without)
            if not violations:
                break
        assert violations == [], theme


@pytest.mark.parametrize("name", [*EMPTY, *DRAWN])
def test_a_page_before_the_first_run(open_page, name):
    page = open_page((EMPTY | DRAWN)[name])
    grow(page)
    expect_no_complaints(page)


@pytest.mark.parametrize("name", list(filled(dict.fromkeys(RUNS, ""))))
def test_a_page_with_results(open_page, with_results, name):
    page = open_page(with_results[name])
    if name == "present, shown":
        expect(page.frame_locator("dialog iframe").locator("h1:visible")).to_have_count(1)
    else:
        grow(page)
    expect_no_complaints(page)


def test_the_menu_of_a_narrow_window(open_page):
    page = open_page("history", width=390, height=844)
    page.get_by_test_id("stExpandSidebarButton").click()
    expect(page.get_by_test_id("stSidebarNavLink").filter(has_text="Present")).to_be_visible()
    expect_no_complaints(page, without=OF_THE_MENU)


def test_a_page_that_is_hard_to_use_has_complaints(open_page):
    page = open_page("glossary")
    page.evaluate(
        """() => document.querySelector("[data-testid=stMain]").insertAdjacentHTML("afterbegin",
          '<button></button><p style="color: #AAA; background: #FFF">faint</p>')"""
    )
    assert {rule for rule, *_ in complaints(page)} == {"button-name", "color-contrast"}
