"""First steps without a mouse: the tour, the page it opens, a run; and keys that leave alone what they should."""

from __future__ import annotations

import pytest
from playwright.sync_api import TimeoutError, expect

from relens_dashboard.tour import STEPS
from tests.browser.server import wait_until

pytestmark = pytest.mark.browser

ENDLESS = (
    "prefix=https%3A%2F%2Fwww%5C.&pattern=%5Ba-z0-9%5D%2B%5C.%5Ba-z%5D%2B%28%2F%5Ba-z%5D%2B%29*&matches=10000&top_k=40"
)
RUN_STEP = next(number for number, step in enumerate(STEPS, 1) if step.picture == "run")


@pytest.fixture(autouse=True)
def little_patience(workbench):
    """What these tests wait for takes seconds, and a run of the model a little more."""
    workbench.page.set_default_timeout(120_000)


def tour_step(page, number):
    return page.locator(f'[data-tour-step="{number}"]')


def button(page, key):
    """A button that can be pressed; Streamlit keeps a second, hidden one for other widths."""
    return page.locator(f".st-key-{key} button:visible:enabled").first


def press(page, key, pressed, expected, seconds=60):
    """Press a key, and again where a busy browser was not yet listening, until `expected` is seen.

    What the key presses comes a moment after the words beside it, and hears nothing before. Not soon again: a key that
    was heard, but whose answer takes its time, would count twice.
    """
    for _ in range(6):
        pressed.wait_for()
        page.locator('[data-testid=stApp][data-test-script-state="notRunning"]').wait_for()
        if not expected.is_visible():
            page.keyboard.press(key)
        try:
            expected.wait_for(timeout=1000 * seconds)
            return
        except TimeoutError:
            continue
    raise AssertionError(f"{key} does nothing here.")


def go_to(page, selector):
    """Press Tab until what `selector` names has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} is not reached by the keyboard.")


def test_from_the_tour_to_a_run_with_the_keyboard_alone(workbench, dashboard):
    page = workbench.page
    page.goto(dashboard.url)
    expect(tour_step(page, 1)).to_be_visible()
    for number in range(2, RUN_STEP + 1):
        press(page, "ArrowRight", button(page, "tour_next"), tour_step(page, number))
    press(page, "ArrowLeft", button(page, "tour_back"), tour_step(page, RUN_STEP - 1))
    go_to(page, ".st-key-tour_next button")
    page.keyboard.press("Enter")
    expect(tour_step(page, RUN_STEP)).to_be_visible()
    go_to(page, ".st-key-tour_open button")
    page.keyboard.press("Enter")
    expect(workbench.pattern).to_have_value(
        r" (January|February|March|April|May|June|July|August|September|October|"
        r"November|December) \d{1,2}, \d{4}"
    )
    expect(workbench.verdict).to_contain_text("strings")
    page.keyboard.press("/")
    expect(workbench.pattern).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type("?")  # in a field a character like any other
    expect(workbench.pattern).to_have_value(
        r" (January|February|March|April|May|June|July|August|September|October|"
        r"November|December) \d{1,2}, \d{4}?"
    )
    expect(page.locator(".relens-keys")).not_to_be_visible()
    page.keyboard.press("Backspace")
    expect(workbench.run_button).to_be_visible()
    page.keyboard.press("Control+Enter")
    run_id = workbench.run_id()
    wait_until(lambda: dashboard.store.get(run_id).row_count >= 1, what="The first match")
    expect(workbench.ended("done")).to_be_visible()
    assert dashboard.store.get(run_id).row_count == 20


def test_escape_stops_a_run_and_only_where_that_is_meant(workbench, dashboard):
    page = workbench.page
    workbench.open(ENDLESS)
    expect(workbench.verdict).to_contain_text("strings")
    page.keyboard.press("/")
    press(page, "Control+Enter", workbench.run_button, workbench.stop_button)
    run_id = workbench.run_id()
    wait_until(lambda: dashboard.store.get(run_id).row_count >= 1, what="The first match")
    workbench.pattern.blur()
    page.keyboard.press("/")
    expect(workbench.pattern).to_be_focused()
    page.keyboard.press("/")  # within a field it is a letter, and Escape is the field's
    page.keyboard.press("Escape")
    page.locator(".st-key-more_settings button:visible").click()
    expect(page.locator(".st-key-temperature")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-temperature")).not_to_be_visible()
    assert not dashboard.store.get(run_id).stop_requested
    page.locator(".relens-parts").click()
    page.keyboard.press("Escape")
    expect(workbench.ended("stopped")).to_be_visible()


def test_the_list_of_keys_and_a_closed_tour_that_stays_closed(workbench, dashboard):
    page = workbench.page
    page.goto(dashboard.url)
    expect(tour_step(page, 1)).to_be_visible()
    press(page, "?", button(page, "keyboard"), page.locator(".relens-keys"))
    expect(page.locator(".relens-keys")).to_contain_text("Stop the run")
    page.keyboard.press("Escape")
    expect(page.locator(".relens-keys")).not_to_be_visible()
    page.locator(".st-key-tour_close button:visible").click()
    expect(page.locator(".st-key-tour_button button:visible")).to_be_visible()
    expect(tour_step(page, 1)).to_have_count(0)
    wait_until(lambda: any(cookie["name"] == "relens_tour" for cookie in page.context.cookies()), what="The cookie")
    page.reload()
    expect(page.locator(".st-key-tour_button button:visible")).to_be_visible()
    expect(tour_step(page, 1)).to_have_count(0)
    page.locator(".st-key-tour_button button:visible").click()
    expect(tour_step(page, 1)).to_be_visible()


def test_arrows_on_a_slider_or_in_a_choice_turn_no_second_step(workbench, dashboard):
    page = workbench.page
    page.goto(f"{dashboard.url}/automata?lesson=The+((cat)|(dog))")
    step = page.locator("[data-lesson-step]")
    expect(step).to_have_attribute("data-lesson-step", "1")
    press(page, "ArrowRight", button(page, "lesson_next"), page.locator('[data-lesson-step="2"]'))
    page.wait_for_timeout(1500)
    slider = page.locator(".st-key-lesson_step input")
    slider.focus()
    press(page, "ArrowRight", slider, page.locator('[data-lesson-step="3"]'))
    page.wait_for_timeout(1500)
    expect(step).to_have_attribute("data-lesson-step", "3")
