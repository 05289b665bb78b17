"""The Workbench driven as a person does, with the real model, from an example to an exported file."""

from __future__ import annotations

import csv
import io
import os
import signal
import time

import pytest
from playwright.sync_api import expect

from tests.browser.direct import scores
from tests.browser.server import download, wait_until

pytestmark = pytest.mark.browser

#: An open language: there is always more to find, so the run goes on until somebody ends it.
ENDLESS = (
    "prefix=https%3A%2F%2Fwww%5C.&pattern=%5Ba-z0-9%5D%2B%5C.%5Ba-z%5D%2B%28%2F%5Ba-z%5D%2B%29*&matches=10000&top_k=40"
)


def begin_endless_run(workbench, dashboard, matches=3):
    """Run the open language until it has found something; returns the run's id."""
    workbench.open(ENDLESS)
    workbench.run_button.click()
    run_id = workbench.run_id()
    wait_until(lambda: dashboard.store.get(run_id).row_count >= matches, what="The first match")
    return run_id


def stop(workbench):
    workbench.stop_button.click()
    expect(workbench.ended("stopped")).to_be_visible()


def test_from_an_example_to_a_file_whose_numbers_are_the_models(workbench, dashboard):
    page = workbench.page
    page.goto(dashboard.url)
    page.get_by_role("link", name="Open: A birth date").first.click()
    expect(workbench.pattern).to_have_value(
        " (January|February|March|April|May|June|July|August|September|October|November|December)"
        r" \d{1,2}, \d{4}"
    )
    expect(page.locator(".st-key-top_k input")).to_have_value("40")
    page.locator(".st-key-matches input").fill("10")
    page.keyboard.press("Enter")
    workbench.run_button.click()
    expect(workbench.ended("done")).to_be_visible()

    saved = download(page.locator(".st-key-download_csv button:visible"))
    with open(saved.path(), encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(io.StringIO(file.read())))
    assert len(rows) == 10
    assert [float(row["decoder_log_prob"]) for row in rows] == sorted(
        (float(row["decoder_log_prob"]) for row in rows), reverse=True
    )
    for row in rows:
        token_ids = [int(token) for token in row["token_ids"].split()]
        prefix_log_prob, log_prob, decoder_log_prob, text = scores(token_ids, int(row["prefix_tokens"]), top_k=40)
        assert row["text"] == text
        assert float(row["prefix_log_prob"]) == pytest.approx(prefix_log_prob, abs=1e-4)
        assert float(row["log_prob"]) == pytest.approx(log_prob, abs=1e-4)
        assert float(row["decoder_log_prob"]) == pytest.approx(decoder_log_prob, abs=1e-4)


def test_what_is_typed_is_counted_explained_and_drawn(workbench):
    workbench.open()
    workbench.prefix.fill("The")
    workbench.pattern.fill(" ((cat)|(dog))")
    expect(workbench.verdict).to_contain_text("2 strings")
    expect(workbench.page.locator(".relens-parts")).to_contain_text("group 1")
    for key in ("language_automaton", "token_automaton"):
        drawing = workbench.page.locator(f".st-key-{key} .frame .host svg")
        expect(drawing).to_be_visible()
        expect(drawing).to_contain_text("The")


def test_a_drawing_can_be_zoomed_moved_and_fitted(workbench):
    workbench.open("pattern=The+(cat|dog)")
    drawing = workbench.page.locator(".st-key-language_automaton .frame .host svg")
    expect(drawing).to_be_visible()

    def box():
        return [float(number) for number in drawing.get_attribute("viewBox").split()]

    before = box()
    workbench.page.locator(".st-key-language_automaton [data-do=in]").click()
    assert box()[2] < before[2]
    workbench.page.locator(".st-key-language_automaton .frame").focus()
    workbench.page.keyboard.press("ArrowRight")
    assert box()[0] > before[0]
    workbench.page.keyboard.press("0")
    assert box()[2] >= before[2] * 0.3


def test_a_wrong_expression_shows_its_place_and_loses_nothing(workbench):
    workbench.open("prefix=The")
    workbench.pattern.fill("a(b|c")
    alert = workbench.page.locator(".st-key-verdict [data-testid=stAlert]")
    expect(alert.first).to_contain_text("position 1 of the pattern")
    expect(workbench.page.locator(".st-key-verdict pre").first).to_have_text("a(b|c\n ^")
    expect(workbench.run_button).to_have_count(0)
    expect(workbench.pattern).to_have_value("a(b|c")
    workbench.pattern.press_sequentially(")")
    expect(alert).to_have_count(0)
    expect(workbench.verdict).to_contain_text("2 strings")
    expect(workbench.prefix).to_have_value("The")


def test_what_a_link_or_a_model_writes_is_only_text(workbench):
    errors = []
    workbench.page.on("dialog", lambda dialog: (errors.append(dialog.message), dialog.dismiss()))
    workbench.open("pattern=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E%22%5C%3E%3Cscript%3Ealert(2)%3C%2Fscript%3E")
    expect(workbench.verdict).to_contain_text("<img")
    expect(workbench.page.locator(".st-key-language_automaton .frame .host svg")).to_contain_text("onerror")
    assert workbench.page.locator("img[src=x]").count() == 0
    assert errors == []


def test_a_link_runs_nothing(workbench, dashboard):
    before = dashboard.store.count()
    workbench.open("pattern=The+cat&top_k=7&greedy=true")
    expect(workbench.verdict).to_contain_text("1 string")
    time.sleep(1.0)
    assert dashboard.store.count() == before


def test_a_reload_in_mid_run_comes_back_to_it(workbench, dashboard):
    run_id = begin_endless_run(workbench, dashboard)
    workbench.page.reload()
    expect(workbench.pattern).to_have_value("[a-z0-9]+\\.[a-z]+(/[a-z]+)*")
    expect(workbench.page.locator("[data-testid=stProgress]")).to_contain_text("matches in")
    assert workbench.run_id() == run_id
    assert dashboard.store.get(run_id).is_live
    stop(workbench)


def test_stop_stops_and_keeps_the_matches(workbench, dashboard):
    run_id = begin_endless_run(workbench, dashboard)
    expect(workbench.stop_button).to_be_visible()
    begun = time.monotonic()
    workbench.stop_button.click()
    wait_until(lambda: dashboard.store.get(run_id).status == "stopped", what="The end of the run")
    print(f"\nStop took {time.monotonic() - begun:.2f} s from the click to the store")
    expect(workbench.ended("stopped")).to_contain_text("You stopped it after")
    rows = dashboard.store.rows(run_id)
    assert len(rows) == dashboard.store.get(run_id).row_count >= 3


def test_stop_is_heard_that_is_pressed_when_a_clock_ticks(workbench, dashboard):
    run_id = begin_endless_run(workbench, dashboard)
    expect(workbench.stop_button).to_be_visible()
    workbench.page.evaluate(
        """() => {
          // What happens at once is sent after a timeout of 0: the next clock that ticks is followed by a click.
          const { setTimeout } = window
          let waits = true
          window.setTimeout = (task, milliseconds, ...more) => {
            const timer = setTimeout(task, milliseconds, ...more)
            const buttons = [...document.querySelectorAll(".st-key-stop_button button:enabled")]
            const stop = buttons.find((button) => button.offsetWidth)
            if (waits && milliseconds === 0 && stop && String(task).includes("sendUpdateWidgetsMessage")) {
              waits = false
              stop.click()
            }
            return timer
          }
        }"""
    )
    wait_until(lambda: dashboard.store.get(run_id).status == "stopped", what="The end of the run")
    expect(workbench.ended("stopped")).to_be_visible()


def test_a_killed_worker_loses_no_row_and_is_replaced(workbench, dashboard):
    run_id = begin_endless_run(workbench, dashboard)
    (worker,) = [worker for worker in dashboard.store.workers() if worker.alive]
    rows = len(dashboard.store.rows(run_id))
    os.kill(worker.pid, signal.SIGKILL)
    expect(workbench.ended("interrupted")).to_contain_text("The worker ended")
    assert len(dashboard.store.rows(run_id)) >= rows
    expect(workbench.page.locator("[data-testid=stDataFrame]").first).to_be_visible()
    # The same page, not loaded anew, asks again.
    workbench.pattern.fill(r"[a-z]+\.com")
    expect(workbench.verdict).to_contain_text("Infinitely many strings")
    workbench.page.locator(".st-key-matches input").fill("3")
    workbench.page.keyboard.press("Enter")
    workbench.run_button.click()
    expect(workbench.ended("done")).to_be_visible()
    assert workbench.run_id() != run_id
    assert dashboard.store.get(workbench.run_id()).row_count == 3


def test_a_match_opens_to_its_tokens(workbench, dashboard):
    workbench.open("prefix=The&pattern=+(cat|dog)&encoding=Canonical&matches=5")
    workbench.run_button.click()
    expect(workbench.ended("done")).to_be_visible()
    workbench.select_line(0)
    tokens = workbench.page.locator(".relens-tokens .token")
    expect(tokens).to_have_count(2)
    expect(tokens.first).to_contain_text("The")
    match = dashboard.store.rows(workbench.run_id())[0]
    expect(tokens.nth(1)).to_contain_text(match["text"].removeprefix("The").strip())
