"""Numbers to sentences: each sentence must agree with its number."""

import dataclasses
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.counted import counted
from relens.query import Distribution, Limits, Query, Sampling
from relens.runs.specification import SearchSpecification
from relens_dashboard import narrative
from tests.app.fakes import FakeStore


def run_with(**changes):
    store = FakeStore()
    run_id = store.submit(SearchSpecification("m", Query("a")))
    return dataclasses.replace(store.runs[run_id], **changes)


@pytest.mark.parametrize(
    ("probability", "text"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.99999, "over 99.9 %"),
        (0.997, "99.7 %"),
        (0.342, "34 %"),
        (0.0342, "3.4 %"),
        (0.00342, "0.34 %"),
        (0.000342, "1 in 2,900"),
        (1e-12, "about 1 in 10^12"),
        (float("nan"), "0 %"),
    ],
)
def test_probability_text(probability, text):
    assert narrative.probability_text(probability) == text


@given(st.floats(1e-300, 1.0))
def test_probability_text_is_within_its_rounding(probability):
    text = narrative.probability_text(probability)
    if text == "over 99.9 %":
        assert 0.999 < probability < 1.0
    elif text.endswith("%"):
        assert math.isclose(float(text.split()[0]) / 100, probability, rel_tol=0.06)
    elif text.startswith("about"):
        assert abs(math.log10(probability) + float(text.split("^")[1])) <= 0.51
    else:
        assert math.isclose(1 / float(text.removeprefix("1 in ").replace(",", "")), probability, rel_tol=0.06)


@given(st.floats(-700.0, 0.0))
def test_log_probability_text_agrees_with_probability_text_in_their_common_range(log_probability):
    text = narrative.log_probability_text(log_probability)
    plain = narrative.probability_text(math.exp(log_probability))
    assert text == plain or text.startswith("about 1 in 10^")


def test_log_probability_text_below_the_smallest_float():
    assert narrative.log_probability_text(-2302.585) == "about 1 in 10^1000"
    assert narrative.log_probability_text(-math.inf) == "0 %"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.44, "0.4 s"), (12.3, "12 s"), (59.7, "1 min"), (200, "3 min 20 s"), (3900, "1 h 5 min"), (-1, "0.0 s")],
)
def test_duration_text(seconds, text):
    assert narrative.duration_text(seconds) == text


def test_mass_sentence_has_two_bounds_until_they_meet():
    def sentence(lower, remaining, **more):
        return narrative.mass_sentence({"found_mass": lower, "remaining_mass": remaining, **more})

    assert sentence(0.12, 0.22) == "Between 12 % and 34 % of what this decoder writes here begins with a match."
    assert sentence(0.0, 0.34) == "At most 34 % of what this decoder writes here begins with a match."
    assert sentence(0.34, 0.0) == "34 % of what this decoder writes here begins with a match."
    assert sentence(0.0, 0.0) == "Nothing of what this decoder writes here begins with a match."
    assert "At least 1 in 10,000 and at most 34 %" in sentence(0.0001, 0.34)
    assert "the prefix included" in sentence(0.1, 0.2, mass_is_joint=True)
    assert "is a match from start to end" in narrative.mass_sentence(
        {"found_mass": 0.1, "remaining_mass": 0.0}, end_of_text=True
    )


@given(st.floats(0.0, 1.2), st.floats(0.0, 1.2))
def test_mass_bounds_are_probabilities_in_order(mass, remaining):
    lower, upper = narrative.mass_bounds({"found_mass": mass, "remaining_mass": remaining})
    assert 0.0 <= lower <= upper <= 1.0
    assert narrative.mass_sentence({"found_mass": mass, "remaining_mass": remaining}).endswith(".")


def test_status_headline():
    assert narrative.status_headline(run_with(), 1) == "Waiting: next in the queue"
    assert narrative.status_headline(run_with(), 3) == "Waiting: third in the queue"
    assert narrative.status_headline(run_with(), 42) == "Waiting: number 42 in the queue"
    loading = run_with(status="running", stage="loading the model", stage_fraction=0.4)
    assert narrative.status_headline(loading) == "Loading the model (40 %)"
    assert narrative.status_headline(dataclasses.replace(loading, stop_requested=True)) == "Stopping"
    assert narrative.status_headline(run_with(status="interrupted")) == "Interrupted"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"status": "done", "row_count": 2, "progress": {"ended": "exhausted"}}, "these 2 matches are everything"),
        ({"status": "done", "progress": {"ended": "exhausted"}}, "nothing to find"),
        (
            {"status": "done", "row_count": 100, "progress": {"ended": "matches"}},
            "matches was reached; there may be more",
        ),
        (
            {"status": "done", "row_count": 1, "progress": {"ended": "seconds"}},
            "limit of 10 min was reached; there may",
        ),
        ({"status": "done", "progress": {"ended": "expansions"}}, "100,000 expansions was reached before a match"),
        ({"status": "stopped", "row_count": 1}, "You stopped it after 1 match."),
        ({"status": "failed", "error": "The disk is full."}, "The disk is full."),
        ({"status": "interrupted", "row_count": 12}, "12 matches found so far are kept"),
        ({"status": "interrupted"}, "found nothing yet"),
    ],
)
def test_ending_sentence(changes, words):
    assert words in narrative.ending_sentence(run_with(**changes))


def test_a_live_run_has_no_ending():
    assert narrative.ending_sentence(run_with(status="running")) == ""


def test_work_sentence_counts():
    progress = {"seconds_total": 2.0, "seconds_model": 1.5, "expansions": 147, "forwards": 12}
    sentence = narrative.work_sentence(run_with(status="running", row_count=50, progress=progress))
    assert sentence == (
        "50 matches in 2.0 s · 25 matches a second · 147 expansions in 12 calls of the model"
        " · 75 % of the time inside the model"
    )
    assert narrative.work_sentence(run_with()) == ""


def test_time_left_is_what_the_limit_leaves():
    assert narrative.time_left(run_with(status="running", progress={"seconds_total": 60.0})) == "at most 9 min left"
    assert narrative.time_left(run_with(status="done")) == ""


def test_fraction_done_is_by_the_nearest_limit():
    progress = {"expansions": 50_000, "seconds_total": 60.0}
    assert narrative.fraction_done(run_with(status="running", row_count=10, progress=progress)) == 0.5
    assert narrative.fraction_done(run_with(status="running", stage_fraction=0.3)) == 0.3
    assert narrative.fraction_done(run_with(status="done")) == 1.0


@given(st.integers(0, 10**9))
def test_count_text(number):
    text = counted(number, "match", "matches")
    assert int(re.sub(r"\D", "", text)) == number
    assert text.endswith("match") == (number == 1)


SAMPLE = SearchSpecification("m", Query("a"), Sampling(10_000), Limits(matches=None))
DISTRIBUTION = SearchSpecification("m", Query("a"), Distribution(0.001), Limits(matches=100_000))


def run_of(specification, **changes):
    store = FakeStore()
    return dataclasses.replace(store.runs[store.submit(specification)], **changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"status": "done", "row_count": 3, "progress": {"ended": "drawn", "samples": 10_000}},
            "Complete: 10,000 draws, 3 different matches among them.",
        ),
        ({"status": "stopped", "progress": {"samples": 6_400}}, "You stopped it after 6,400 of 10,000 drawn."),
        (
            {"status": "done", "progress": {"ended": "seconds", "samples": 6_400}},
            "The time limit of 10 min was reached after 6,400 of 10,000 drawn.",
        ),
    ],
)
def test_endings_of_a_sample(changes, words):
    assert narrative.ending_sentence(run_of(SAMPLE, **changes)) == words


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"status": "done", "row_count": 80, "progress": {"ended": "tolerance"}},
            "Settled with 80 matches: the unexplored mass is at most 0.10 % of the mass found.",
        ),
        ({"status": "done", "row_count": 2, "progress": {"ended": "exhausted"}}, "these 2 matches are everything"),
        ({"status": "done", "row_count": 100_000, "progress": {"ended": "matches"}}, "limit of 100,000 matches was"),
    ],
)
def test_endings_of_a_distribution(changes, words):
    assert words in narrative.ending_sentence(run_of(DISTRIBUTION, **changes))


def test_a_sample_counts_its_draws():
    progress = {"seconds_total": 2.0, "seconds_model": 1.5, "samples": 6_400, "expansions": 0}
    run = run_of(SAMPLE, status="running", row_count=12, progress=progress)
    assert narrative.draws(run) == 6_400
    assert narrative.work_sentence(run).startswith("6,400 of 10,000 drawn in 2.0 s · 3,200 draws a second")
    assert narrative.fraction_done(run) == 0.64
    assert narrative.draws(run_of(DISTRIBUTION)) is None
    assert narrative.draws(run_with()) is None


@pytest.mark.parametrize(
    ("mass", "remaining", "words", "fraction"),
    [
        (0.0, 1.0, "the unexplored mass is above the mass found; the run ends at 0.10 %", 0.0),
        (0.5, 0.05, "the unexplored mass is 10 % of the mass found; the run ends at 0.10 %", 1 / 3),
        (0.5, 0.0005, "the unexplored mass is 0.10 % of the mass found", 1.0),
    ],
)
def test_a_distribution_shows_its_unexplored_mass(mass, remaining, words, fraction):
    progress = {"seconds_total": 2.0, "found_mass": mass, "remaining_mass": remaining}
    run = run_of(DISTRIBUTION, status="running", progress=progress)
    assert words in narrative.work_sentence(run)
    assert narrative.fraction_done(run) == pytest.approx(fraction, abs=0.01)


def test_a_distribution_without_tolerance_goes_on_to_the_end():
    everything = SearchSpecification("m", Query("a"), Distribution(0.0))
    progress = {"seconds_total": 2.0, "found_mass": 0.8, "remaining_mass": 0.2}
    run = run_of(everything, status="running", progress=progress)
    assert "the run ends at 0 %" in narrative.work_sentence(run)
    assert narrative.fraction_done(run) == pytest.approx(0.75)


def test_matches_that_exclude_each_other_are_matches():
    assert narrative.mass_sentence({"found_mass": 0.3, "remaining_mass": 0.0}, exclusive=True) == (
        "30 % of what this decoder writes here is a match."
    )


def test_an_interval_is_two_probabilities():
    assert narrative.interval_text(0.38, 0.44) == "38 % to 44 %"
    assert narrative.interval_text(1e-44, 0.042) == "up to 4.2 %"
    assert narrative.interval_text(1e-5, 1e-4) == "1 in 100,000 to 1 in 10,000"
