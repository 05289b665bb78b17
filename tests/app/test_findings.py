"""Findings of a sample or a distribution: sentences that agree with the numbers."""

import dataclasses

import pytest

from relens.query import Query, Sampling
from relens.runs.records import RunRecord
from relens.runs.specification import SearchSpecification
from relens_dashboard import findings
from relens_dashboard.tables import groups_table
from tests.app.fakes import FakeStore, bias_rows, match_row


def test_shares_given_another_group():
    table = groups_table(bias_rows(), ["subject", "outcome"], ["subject"])
    man, woman = findings.share_sentences(table, ["outcome"], ["subject"])
    assert woman == "Given woman, outcome is math in 75 % and art in 25 %."
    assert man.startswith("Given man, outcome is ")
    assert "50 %" in man


def test_shares_of_all_matches_and_of_combinations():
    assert findings.share_sentences(groups_table(bias_rows(), ["outcome"]), ["outcome"]) == [
        "outcome is math in 60 % and art in 40 %."
    ]
    table = groups_table(bias_rows(), ["subject", "outcome"])
    (sentence,) = findings.share_sentences(table, ["subject", "outcome"])
    assert sentence.endswith("; 1 other value shares the rest.")
    assert "woman and math in 30 %" in sentence


def test_shares_of_a_sample_come_with_intervals():
    (sentence,) = findings.share_sentences(groups_table(bias_rows(), ["outcome"], draws=100), ["outcome"])
    assert " in 60 % (" in sentence
    assert " % to " in sentence


def test_many_conditions_are_cut():
    rows = [
        match_row(" x", f"The {place}", -1.0, number=place, groups={"a": str(place), "b": "x"}) for place in range(1, 8)
    ]
    sentences = findings.share_sentences(groups_table(rows, ["a", "b"], ["a"]), ["b"], ["a"])
    assert len(sentences) == 5
    assert sentences[-1] == "The table has 3 more of a."


def test_no_match_has_no_shares():
    assert findings.share_sentences(groups_table([], ["a"]), ["a"]) == []


def test_spelling():
    assert findings.spelling_sentence(bias_rows(), None) == (
        "2.0 % of this mass is spelled in other tokens than the tokenizer's own."
    )
    assert "2.0 % (" in findings.spelling_sentence(bias_rows(), 100)
    assert "All matches are spelled" in findings.spelling_sentence(bias_rows()[:3], None)
    assert findings.spelling_sentence([], 10) == ""


def test_the_mass_of_a_sample_is_the_mean_weight_failed_draws_included():
    mass = findings.sample_mass(bias_rows(), 200)
    assert mass.value == pytest.approx(0.05)
    assert mass.low < 0.05 < mass.high
    assert findings.sample_mass_sentence(mass).startswith("About 5.0 % (")
    assert findings.sample_mass([], 0) is None


def test_weighted_draws_have_a_smaller_effective_sample_size():
    assert "nearly equal weights" in findings.effective_sample_size_sentence(bias_rows())
    rows = [match_row("a", count=90, weight=0.01), match_row("b", count=10, weight=1.0)]
    size = (90 * 0.01 + 10) ** 2 / (90 * 0.0001 + 10)
    assert f"an effective sample size of about {size:.0f} independent" in findings.effective_sample_size_sentence(rows)
    assert "The 100 draws that are matches" in findings.effective_sample_size_sentence(rows)
    assert findings.effective_sample_size_sentence([]) == ""


def test_failed_draws():
    assert findings.failed_sentence({"failed": 0}) == ""
    assert findings.failed_sentence({"failed": 1}).startswith("1 draw failed")
    assert findings.failed_sentence({"failed": 1300}).startswith("1,300 draws failed")


def test_precision_is_the_unexplored_part_of_the_possible_mass():
    assert "at most 1.0 %" in findings.precision_sentence({"found_mass": 0.099, "remaining_mass": 0.001})
    assert "exact" in findings.precision_sentence({"found_mass": 0.1, "remaining_mass": 0.0})
    assert findings.precision_sentence({"found_mass": 0.0, "remaining_mass": 1.0}) == ""


def sample_run(count: int, samples: int, status: str = "done") -> RunRecord:
    store = FakeStore()
    run_id = store.submit(SearchSpecification("m", Query("a"), Sampling(count)))
    return dataclasses.replace(store.runs[run_id], status=status, progress={"samples": samples})


def test_a_sample_that_was_cut_short_has_biased_shares():
    assert findings.incomplete_sentence(sample_run(1000, 1000)) == ""
    assert findings.incomplete_sentence(sample_run(1000, 10, "running")) == ""
    for status in ("stopped", "interrupted", "done"):
        assert findings.incomplete_sentence(sample_run(1000, 640, status)).startswith("Only 640 of 1,000 draws have")


def test_matches_that_need_their_end_are_counted():
    rows = bias_rows()
    assert findings.settled_sentence(rows, end_of_text=False) == ""
    rows[0] = {**rows[0], "ended": True}
    sentence = findings.settled_sentence(rows, end_of_text=False)
    assert sentence.startswith(f"1 of the {len(rows)} matches can be continued to a longer match")
    assert "Must end here" in sentence
    assert findings.settled_sentence(rows, end_of_text=True) == ""
    every = findings.settled_sentence([{**row, "ended": True} for row in rows], end_of_text=False)
    assert every.startswith("Every match can be continued")
    assert "Must end here" not in every


def test_a_small_effective_sample_size_brings_advice():
    rows = [{"weight": 1.0, "count": 1}, {"weight": 1e-6, "count": 999}]
    assert "would be more precise" in findings.effective_sample_size_sentence(rows)
    rows = [{"weight": 1.0, "count": 500}, {"weight": 0.1, "count": 500}]
    assert "would be more precise" not in findings.effective_sample_size_sentence(rows)
