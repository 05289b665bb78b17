"""The scripts of our components as a busy browser calls them: a second time before the end of the first call comes."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from relens_dashboard.components import automaton_view, keyboard, show_deck, ticker
from tests.browser.server import PATIENCE, wait_until

pytestmark = pytest.mark.browser

_IMPORT = """async (source) => {
  window.told = []
  window.place = document.querySelector("#place")
  const script = (await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })))).default
  window.call = (data) => script({
    data, parentElement: place, setTriggerValue: (name, value) => told.push([name, value]), setStateValue: () => {} })
}"""


@pytest.fixture
def page(browser):
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.set_content('<div data-testid="stApp" data-test-script-state="notRunning"><div id="place"></div></div>')
    yield page
    page.close()


def begin(page, component, html: str = "") -> None:
    page.locator("#place").evaluate("(place, html) => { place.innerHTML = html }", html)
    page.evaluate(_IMPORT, component)


def call_twice_and_end_the_first(page, data) -> None:
    page.evaluate("(data) => { const first = call(data); window.second = call(data); first() }", data)


def test_a_clock_that_was_wound_up_anew_goes_on(page):
    begin(page, ticker.SCRIPT)
    call_twice_and_end_the_first(page, {"milliseconds": 20})
    wait_until(lambda: page.evaluate("told.length"), seconds=60, what="A tick")
    page.evaluate("second(); told.length = 0")
    page.wait_for_timeout(200)
    assert not page.evaluate("told.length")


def test_one_clock_ticks_and_not_two(page):
    begin(page, ticker.SCRIPT)
    call_twice_and_end_the_first(page, {"milliseconds": 20})
    wait_until(lambda: page.evaluate("told.length"), seconds=60, what="A tick")
    page.wait_for_timeout(400)
    assert page.evaluate("told.length") == 1, "it asks again after three seconds only"


def test_a_look_that_nobody_awaits_is_not_taken(page):
    begin(page, ticker.SCRIPT)
    page.evaluate("call({ milliseconds: 100 }); call({ milliseconds: 0 })")
    page.wait_for_timeout(300)
    assert not page.evaluate("told.length")


def test_keys_are_heard_until_the_last_end(page):
    begin(page, keyboard.SCRIPT, '<div class="st-key-find"><input></div>')
    field = page.locator("input")
    call_twice_and_end_the_first(page, None)
    page.keyboard.press("/")
    expect(field).to_be_focused()
    field.blur()
    page.evaluate("second()")
    page.keyboard.press("/")
    expect(field).not_to_be_focused()


def test_a_deck_stays_open_until_the_last_end(page):
    begin(page, show_deck.SCRIPT, show_deck.HTML)
    deck = page.locator("dialog[open]")
    call_twice_and_end_the_first(page, {"html": "<p>One screen", "version": "a", "screen": 1, "name": "Screens"})
    expect(deck).to_have_count(1)
    page.evaluate('() => { second = call({ html: "<p>Another", version: "b", screen: 1, name: "Screens" }) }')
    expect(deck).to_have_count(1)
    page.evaluate("second()")
    expect(deck).to_have_count(0)


def test_a_drawing_follows_its_frame_until_the_last_end(page):
    begin(page, automaton_view.SCRIPT, automaton_view.HTML)
    page.evaluate(
        """() => {
          const { disconnect } = ResizeObserver.prototype
          ResizeObserver.prototype.disconnect = function () { told.push("disconnected"); return disconnect.call(this) }
        }"""
    )
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"></svg>'
    data = {"svg": svg, "version": "a", "alt": "", "question": "", "details": [], "ends": [], "height": 100}
    call_twice_and_end_the_first(page, data)
    assert not page.evaluate("told.length")
    page.evaluate("second()")
    assert page.evaluate("told.length") == 1
