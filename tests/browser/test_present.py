"""Findings from their pages to the wall: pinned, arranged, shown by the keyboard, exported and opened offline."""

from __future__ import annotations

import json
import re
import time
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from relens.query import Decoding, Limits, Query, ShortestPath
from relens.runs.screens import ScreenStore
from relens.runs.specification import SearchSpecification, StudySpecification
from relens.studies.bias import BiasStudy
from tests.browser.server import PATIENCE, download

pytestmark = pytest.mark.browser

MODEL = "smollm2-135m"
TINY = BiasStudy(
    template="The {subject} was trained in {outcome}",
    subjects=("man", "woman"),
    outcomes=("art", "science"),
    variants=BiasStudy().variants[:1],
    draws=50,
    position_draws=0,
)
DECK = "Browser test"


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    yield page
    context.close()


@pytest.fixture
def screens(dashboard):
    """The dashboard's own screens, seen from outside."""
    store = ScreenStore(dashboard.store.url)
    yield store
    store.close()


def button(page, key):
    """A button that can be pressed; Streamlit keeps a second, hidden one for other widths."""
    return page.locator(f".st-key-{key} button:visible:enabled").first


def open_present(page, dashboard, **parameters):
    page.goto(f"{dashboard.url}/present?{urlencode({'deck': DECK, **parameters})}")


def shown(page):
    return page.frame_locator("dialog iframe")


def pin(page, key):
    button(page, key).click()
    expect(page.locator("[data-testid=stToast]").last).to_contain_text("Present")


def waits_for_its_first_screen(page):
    """Wait until the frame has asked the page for its screen and gone there: a key pressed before would be undone.

    What is sent one way arrives in order, so a question and an answer of ours come after theirs.
    """
    listen = """word => {
      window.heard = false
      addEventListener("message", ({ data }) => { heard ||= data === word })
    }"""
    holder = page.locator("dialog iframe").element_handle()
    frame = holder.content_frame()
    page.evaluate(listen, "question")
    frame.evaluate(listen, "answer")
    frame.evaluate("parent.postMessage('question', '*')")
    page.wait_for_function("heard")
    holder.evaluate("frame => frame.contentWindow.postMessage('answer', '*')")
    # The frame's policy allows no evaluation of strings by the page, which waiting for a function is.
    deadline = time.monotonic() + PATIENCE / 1000
    while not frame.evaluate("heard"):
        assert time.monotonic() < deadline, "the frame has no answer"
        page.wait_for_timeout(20)


def now(place, number):
    """The screen that is seen is this one, alone."""
    expect(place.locator("#number")).to_have_text(number)
    expect(place.locator("main > .screen:visible")).to_have_count(1)
    return place.locator("main > .screen:visible")


def test_two_findings_from_their_pages_to_a_file_that_opens_offline(page, dashboard, screens, browser, tmp_path):
    query = Query(" (art|science)", prefix="The man was trained in", decoding=Decoding(top_k=1000))
    study = dashboard.store.submit(StudySpecification(MODEL, TINY))
    search = dashboard.store.submit(SearchSpecification(MODEL, query, ShortestPath(), Limits(matches=5)))
    page.goto(f"{dashboard.url}/bias?run={study}")
    expect(page.locator('[data-run-status="done"]')).to_be_visible()
    pin(page, "pin_figure_0")
    page.goto(f"{dashboard.url}/workbench?run={search}")
    expect(page.locator('[data-run-status="done"]')).to_be_visible()
    pin(page, "pin_likeliest")
    kept = screens.all()[-2:]
    assert [screen.source["run"] for screen in kept] == [study, search]
    for screen in kept:  # a deck of its own, whatever other tests have pinned
        screens.transfer(screen.id, DECK)

    open_present(page, dashboard)
    button(page, f"move_up_{kept[1].id}").click()
    expect(page.locator(".relens-card .topic").first).to_contain_text("Search")
    assert [screen.id for screen in screens.all(DECK)] == [kept[1].id, kept[0].id]
    first, second = screens.all(DECK)

    button(page, "present_button").click()
    place = shown(page)
    expect(now(place, "1 / 2").locator("h1")).to_have_text(first.sentences[0])
    expect(place.locator(".plot:visible .main-svg").first).to_be_visible()
    size = place.locator("h1:visible").evaluate("node => parseFloat(getComputedStyle(node).fontSize)")
    assert size >= 28
    waits_for_its_first_screen(page)
    page.keyboard.press("ArrowRight")
    expect(now(place, "2 / 2").locator("h1")).to_have_text(second.sentences[0])
    expect(place.locator(".plot:visible .main-svg").first).to_be_visible()
    expect(place.locator(".notes:visible")).to_have_count(0)
    page.keyboard.press("n")
    expect(place.locator(".notes:visible")).to_contain_text(TINY.question)
    page.wait_for_url("**screen=2")
    page.reload()
    now(place, "2 / 2")
    page.keyboard.press("Home")
    now(place, "1 / 2")
    page.keyboard.press(" ")
    now(place, "2 / 2")
    page.keyboard.press("ArrowLeft")
    now(place, "1 / 2")
    page.keyboard.press("Escape")
    expect(button(page, "present_button")).to_be_visible()
    expect(page).not_to_have_url(re.compile("screen="))

    download(button(page, "export_html")).save_as(tmp_path / "deck.html")
    opens_from_disk(browser, tmp_path / "deck.html", [first, second])


def opens_from_disk(browser, path, screens):
    """Each screen of the file is seen, with its figure, without a network and without a complaint."""
    context = browser.new_context(offline=True, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    complaints, requests = [], []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    for number, screen in enumerate(screens, 1):
        seen = now(page, f"{number} / {len(screens)}")
        expect(seen.locator("h1")).to_have_text(screen.sentences[0])
        expect(seen.locator(".kicker")).to_have_text(screen.title)
        for caveat in screen.caveats:
            expect(seen.locator(".caveats")).to_contain_text(caveat)
        marks = len(json.loads(screen.figure)["data"])
        expect(seen.locator(".plot .trace")).to_have_count(marks)
        page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    now(page, f"{len(screens)} / {len(screens)}")
    dark = page.evaluate("document.documentElement.dataset.theme")
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") != dark
    assert complaints == []
    assert [address for address in requests if not address.startswith(("file:", "data:", "blob:"))] == []
    context.close()
