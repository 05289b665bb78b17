"""Edits, exclusions, samples and distributions, set and read as a person does, with the real model."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from relens.query import Distribution, Edits, Exclude, Sampling
from relens.runs.specification import SearchSpecification
from tests.browser.server import wait_until

pytestmark = pytest.mark.browser

PREFIX = "The (?P<subject>man|woman) was trained in"
PATTERN = " (?P<outcome>art|science|math|medicine)"


def choose(workbench, key, option):
    """Press an option of a segmented control."""
    workbench.page.locator(f".st-key-{key}").get_by_text(option, exact=True).first.click()
    wait_for_parameter(workbench, key, option)


def wait_for_parameter(workbench, key, value):
    """Wait until the address has that value, which is none of the defaults: those are not in it."""
    workbench.page.wait_for_function(
        "([key, value]) => new URL(location).searchParams.get(key) === value", arg=[key, value]
    )


def fill(workbench, key, text, field="input"):
    """Type into a field and leave it."""
    place = workbench.page.locator(f".st-key-{key} {field}").first
    place.fill(text)
    place.press("Tab")
    wait_for_parameter(workbench, key, text)


def tick(workbench, key):
    workbench.page.locator(f".st-key-{key} label").first.click()


def open_popover(workbench, key):
    workbench.page.locator(f".st-key-{key} button").first.click()


def parameters(workbench):
    address = workbench.page.evaluate("location.href")
    return {name: values for name, values in parse_qs(urlsplit(address).query).items() if name != "run"}


def run_to_the_end(workbench, dashboard):
    before = workbench.page.evaluate("new URL(location).searchParams.get('run')")
    workbench.run_button.click()
    run_id = workbench.run_id(before)
    # The run that was there before may be in sight for a moment, and be done too.
    wait_until(lambda: dashboard.store.get(run_id).status == "done", what="The end of the run")
    expect(workbench.ended("done")).to_be_visible()
    return run_id


def specification(dashboard, run_id):
    return SearchSpecification.from_json(dashboard.store.get(run_id).specification)


def drawn(dashboard, run_id):
    """What a sample consists of, in an order of its own."""
    return sorted((tuple(row["token_ids"]), row["count"], row["weight"]) for row in dashboard.store.rows(run_id))


def test_every_option_is_set_survives_and_is_repeated(workbench, new_workbench, dashboard):
    page = workbench.page
    workbench.open()
    workbench.prefix.fill(PREFIX)
    workbench.pattern.fill(PATTERN)
    choose(workbench, "traversal", "Sample")
    fill(workbench, "samples", "400")
    fill(workbench, "seed", "7")
    open_popover(workbench, "edit_settings")
    choose(workbench, "edits", "1")
    choose(workbench, "edit_where", "Pattern")
    tick(workbench, "deletions")
    fill(workbench, "edit_alphabet", "[a-z]")
    fill(workbench, "exclude", r".*\d.*")
    fill(workbench, "exclude_words", "math, arts", field="textarea")
    tick(workbench, "stop_words")
    wait_for_parameter(workbench, "stop_words", "true")
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-edit_settings")).to_contain_text("1 edit, 4 exclusions")
    open_popover(workbench, "more_settings")
    choose(workbench, "prefix_by", "Token paths")
    page.keyboard.press("Escape")

    run_id = run_to_the_end(workbench, dashboard)
    submitted = specification(dashboard, run_id)
    assert submitted.traversal == Sampling(400, 7, "tokens")
    assert submitted.query.edits == Edits(1, "pattern", deletions=False, alphabet="[a-z]")
    assert submitted.query.exclude == Exclude(r".*\d.*", ("math", "arts"), True)
    rows = dashboard.store.rows(run_id)
    progress = dashboard.store.get(run_id).progress
    assert sum(row["count"] for row in rows) + progress["failed"] == progress["samples"] == 400
    assert not {" math", " arts"} & {row["text"].removeprefix(row["prefix_text"]) for row in rows}
    expect(page.locator(".relens-findings")).to_contain_text("Given man, outcome is")
    expect(page.locator(".relens-findings")).to_contain_text("Given woman, outcome is")

    # A reload comes back to the same question, the same run and the same view.
    choose(workbench, "by", "Strings")
    held = parameters(workbench)
    page.reload()
    expect(workbench.ended("done")).to_be_visible()
    expect(page.locator(".st-key-seed input")).to_have_value("7")
    assert parameters(workbench) == held
    assert workbench.run_id() == run_id

    # The link that is shared opens the same question elsewhere, where the same seed draws the same sample.
    open_popover(workbench, "share")
    link = page.locator(".st-key-share code, [data-testid=stPopoverBody] code").first.inner_text()
    other = new_workbench()
    other.page.goto(link)
    expect(other.verdict).to_contain_text("strings")
    expect(other.page.locator(".st-key-samples input")).to_have_value("400")
    expect(other.page.locator(".st-key-edit_settings")).to_contain_text("1 edit, 4 exclusions")
    again = run_to_the_end(other, dashboard)
    assert again != run_id
    assert specification(dashboard, again) == submitted
    assert drawn(dashboard, again) == drawn(dashboard, run_id)


def test_a_distribution_and_a_sample_of_the_same_agree(workbench, dashboard):
    page = workbench.page
    workbench.open()
    workbench.prefix.fill(PREFIX)
    workbench.pattern.fill(PATTERN)
    choose(workbench, "traversal", "Distribution")
    fill(workbench, "tolerance", "0.002")
    run_id = run_to_the_end(workbench, dashboard)
    assert specification(dashboard, run_id).traversal == Distribution(0.002)
    expect(workbench.ended("done")).to_contain_text(re.compile("Settled with|Complete"))
    exact = {}
    for row in dashboard.store.rows(run_id):
        key = (row["groups"]["subject"], row["groups"]["outcome"])
        exact[key] = exact.get(key, 0.0) + row["weight"]
    assert set(exact) == {(s, o) for s in ("man", "woman") for o in ("art", "science", "math", "medicine")}
    expect(page.locator(".relens-findings")).to_contain_text("Given man, outcome is")
    expect(page.locator(".relens-mass")).to_contain_text("is a match")
    expect(page.locator("[data-testid=stDataFrame]").first).to_be_visible()

    # The other way to ask is one click and Run away; nothing runs before.
    page.get_by_role("link", name="Sample it").click()
    expect(page.locator(".st-key-samples input")).to_have_value("1000")
    assert workbench.run_id() == run_id
    fill(workbench, "samples", "4000")
    sample_id = run_to_the_end(workbench, dashboard)
    assert sample_id != run_id
    rows = dashboard.store.rows(sample_id)
    total = sum(row["count"] * row["weight"] for row in rows)
    for key, mass in exact.items():
        share = sum(
            row["count"] * row["weight"] for row in rows if (row["groups"]["subject"], row["groups"]["outcome"]) == key
        )
        assert share / total == pytest.approx(mass / sum(exact.values()), abs=0.05)
    expect(page.locator(".relens-findings")).to_contain_text("independent")
    page.get_by_role("tab", name="Against exact").click()
    expect(page.locator(".st-key-chart_exact .js-plotly-plot")).to_be_visible()

    # There and back again: the browser's Back button brings the sample's question back.
    page.get_by_role("link", name="Exact distribution").click()
    expect(page.locator(".st-key-tolerance input")).to_be_visible()
    page.go_back()
    expect(page.locator(".st-key-samples input")).to_have_value("4000")
    assert workbench.run_id() == sample_id


def test_the_space_at_the_boundary_is_moved(workbench):
    page = workbench.page
    workbench.open("prefix=The+&pattern=%28cat%7Cdog%29")
    expect(workbench.verdict).to_contain_text("2 strings")
    page.get_by_role("link", name="Move the space to the pattern").click()
    expect(workbench.prefix).to_have_value("The")
    expect(workbench.verdict).to_contain_text("2 strings")
    expect(page.get_by_role("link", name="Move the space to the pattern")).to_have_count(0)


def test_an_edited_match_shows_its_edits(workbench, dashboard):
    page = workbench.page
    workbench.open(
        "prefix=The&pattern=+%28cat%7Cdog%29&edits=1&edit_where=Pattern&edit_alphabet=%5Bs%5D&matches=8&by=Encodings"
    )
    run_id = run_to_the_end(workbench, dashboard)
    rows = dashboard.store.rows(run_id)
    edited = next(place for place, row in enumerate(rows) if row["edits"])
    workbench.select_line(edited)
    expect(page.locator(".st-key-match_detail")).to_contain_text("1 edit: ")
    expect(page.locator(".st-key-match_detail ins, .st-key-match_detail del").first).to_be_visible()
