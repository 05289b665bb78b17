"""A search recorded from its page with the real model, stepped through to its end and compared with its rows."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from relens.studies.replay import ReplayStudy
from relens.studies.replay_findings import replay_findings
from relens_dashboard.learn.replay_figures import automaton_marks, search_tree
from tests.browser.server import PATIENCE, wait_until

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1440, "height": 1500})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    yield page
    context.close()


def button(page, key):
    """A button that can be pressed; Streamlit keeps a second, hidden one for other widths."""
    return page.locator(f".st-key-{key} button:visible:enabled").first


def drawn(page, key):
    """The states of a drawing, each with the marks that it has: {number: {"final", "current", ...}}."""
    return page.evaluate(
        """(key) => {
          const classes = {}
          const look = (root) => {
            for (const node of root.querySelectorAll('g.node[id^="state-"]'))
              classes[node.id.slice(6)] = [...node.classList]
            for (const child of root.querySelectorAll("*")) if (child.shadowRoot) look(child.shadowRoot)
          }
          look(document.querySelector(".st-key-" + key) ?? document.createElement("div"))
          return classes
        }""",
        key,
    )


def expect_marks(page, key, graph, marks):
    """The drawing has exactly the states of `graph`, marked as `marks` says."""
    states = {graph.start} | {arc.source for arc in graph.arcs} | {arc.target for arc in graph.arcs}
    words = {"current", "match", "frontier", "cut"}

    def is_so():
        seen = drawn(page, key)
        return {int(state) for state in seen} == states and all(
            set(classes) & words == ({marks.states[int(state)]} if int(state) in marks.states else set())
            for state, classes in seen.items()
        )

    wait_until(is_so, what=f"{key}: {marks.states} over {sorted(states)}")


def test_a_search_is_recorded_and_stepped_through_to_its_end(page, dashboard):
    page.goto(f"{dashboard.url}/replay")
    expect(page.locator(".st-key-replay_prefix input").first).to_have_value("The")
    expect(page.locator(".st-key-replay_pattern input").first).to_have_value(" ((cat)|(dog))")
    button(page, "replay_record").click()
    expect(page.locator('[data-replay-step="0"]')).to_be_visible()
    run_id = page.locator("[data-replay-run]").get_attribute("data-replay-run")
    replay = replay_findings(dashboard.store.rows(run_id), ReplayStudy())
    assert replay.end is not None
    assert [item.text for item in replay.shown_by(replay.last)][:2] == ["The cat", "The dog"]

    for step in range(replay.last + 1):
        words = page.locator(f'[data-replay-step="{step}"]')
        expect(words).to_be_visible()
        expect_marks(page, "replay_automaton", replay.graph, automaton_marks(replay, step))
        expect_marks(page, "replay_tree", *search_tree(replay, step))
        for match in replay.rounds[step].waiting[:1]:
            expect(words).to_contain_text("may not be shown yet" if match.rival else "shown next")
        for match in replay.rounds[step].shown:
            expect(words).to_contain_text(f"“{match.text}” (cost {match.cost:.2f})")
        if step < replay.last:
            # By the mouse and by the keyboard in turn.
            expect(page.locator("[data-testid=stApp]")).to_have_attribute("data-test-script-state", "notRunning")
            page.keyboard.press("ArrowRight") if step % 2 else button(page, "replay_next").click()
    expect(page).to_have_url(re.compile(rf"[?&]step={replay.last}(&|$)"))

    page.reload()
    expect(page.locator(f'[data-replay-step="{replay.last}"]')).to_be_visible()
    button(page, "replay_previous").click()
    expect(page.locator(f'[data-replay-step="{replay.last - 1}"]')).to_be_visible()


def test_random_walks_come_in_and_one_is_followed(page, dashboard):
    page.goto(f"{dashboard.url}/replay?shown=Random+walks")
    expect(page.locator('[data-walk-step="0"]')).to_be_visible()
    expect(page.get_by_text("2,838 strings")).to_be_visible()
    button(page, "walk_play").click()
    # It goes on while one looks: three hundred, or any hundred behind it.
    hundreds = re.compile(r"([3-9]|\d,?\d)00")
    expect(page.locator(".st-key-walk_drawn [data-testid=stSliderThumbValue]").first).to_contain_text(hundreds)
    button(page, "walk_play").click()
    button(page, "walk_next").click()
    expect(page.locator('[data-walk-step="1"]')).to_be_visible()
    expect(page.locator(".st-key-walk_strings .js-plotly-plot")).to_be_visible()
