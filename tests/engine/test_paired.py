"""Proportions and paired tests against scipy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from relens.paired import holm, paired_test, proportion


@given(st.integers(1, 300).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_the_interval_is_wilsons(counts):
    right, total = counts
    estimate = proportion(right, total)
    oracle = binomtest(right, total).proportion_ci(0.95, method="wilson")
    assert estimate.value == right / total
    assert (estimate.low, estimate.high) == pytest.approx((oracle.low, oracle.high), abs=1e-9)


def test_no_questions_give_the_whole_interval():
    assert (proportion(0, 0).low, proportion(0, 0).high) == (0.0, 1.0)
    with pytest.raises(ValueError, match="no share"):
        proportion(3, 2)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_mcnemar_is_the_binomial_test_of_the_disagreements(pairs):
    test = paired_test([first for first, _ in pairs], [second for _, second in pairs])
    assert (test.first_only, test.second_only) == (pairs.count((True, False)), pairs.count((False, True)))
    disagreements = test.first_only + test.second_only
    expected = binomtest(test.first_only, disagreements, 0.5).pvalue if disagreements else 1.0
    assert test.p_value == pytest.approx(expected, rel=1e-9)
    assert test.pairs == len(pairs)


def test_pairs_need_partners():
    with pytest.raises(ValueError):
        paired_test([True], [])


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_rejects_what_stepping_down_rejects(p_values):
    corrected = holm(p_values)
    for level in (0.01, 0.05, 0.3):
        rejected = set()
        for step, place in enumerate(sorted(range(len(p_values)), key=lambda place: p_values[place])):
            if p_values[place] * (len(p_values) - step) > level:
                break
            rejected.add(place)
        assert {place for place, p_value in enumerate(corrected) if p_value <= level} == rejected
