"""Tests of difference against scipy, and refusals to test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from relens.runs.share_tests import Refusal, differences_of_shares, shares_of_run
from tests.app.fakes import match_row

COUNTS = st.lists(st.integers(60, 400), min_size=3, max_size=3)


def sample(counts, weight=0.25):
    rows = [
        match_row(name, count=count, weight=weight, groups={"what": name})
        for name, count in zip("abc", counts, strict=True)
    ]
    return shares_of_run("sampling", rows, ["what"])


def exact(shares):
    rows = [match_row(name, weight=share, groups={"what": name}) for name, share in zip("abc", shares, strict=True)]
    return shares_of_run("distribution", rows, ["what"])


@given(COUNTS, COUNTS)
def test_two_samples_are_tested_as_scipy_does(first, second):
    (difference,) = differences_of_shares([sample(first), sample(second, weight=1e-200)])
    oracle = stats.chi2_contingency(np.array([first, second]), correction=False)
    assert difference.test.statistic == pytest.approx(oracle.statistic, rel=1e-6, abs=1e-9)
    assert difference.test.log10_p == pytest.approx(math.log10(max(oracle.pvalue, 1e-300)), rel=1e-6, abs=1e-9)
    shares = [np.array(counts) / sum(counts) for counts in (first, second)]
    assert difference.distance == pytest.approx(abs(shares[0] - shares[1]).sum() / 2)
    assert difference.refusal is None
    assert difference.strength.low <= difference.strength.value <= difference.strength.high


def test_draws_of_unequal_weight_count_as_fewer():
    rows = [
        match_row("a", count=500, weight=0.05, groups={"what": "a"}),
        match_row("A", count=25, weight=1.0, groups={"what": "a"}),
        match_row("b", count=1000, weight=0.05, groups={"what": "b"}),
    ]
    shares = shares_of_run("sampling", rows, ["what"])
    weights = np.repeat([0.05, 1.0, 0.05], [500, 25, 1000])
    assert shares.effective == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert shares.shares[("a",)] == pytest.approx(0.5)
    assert shares.draws == 1525
    (difference,) = differences_of_shares([shares, sample((300, 300, 300))])
    # Half of 1,525 draws would be further from a third than half of the effective ones.
    counted, expected = (
        stats.chi2_contingency(np.array([[size / 2, size / 2, 0], [300, 300, 300]]), correction=False)
        for size in (1525, shares.effective)
    )
    assert math.log10(counted.pvalue) < difference.test.log10_p
    assert difference.test.log10_p == pytest.approx(math.log10(expected.pvalue))


def test_too_few_effective_draws_are_not_tested():
    rows = [
        match_row("a", count=30, weight=1.0, groups={"what": "a"}),
        match_row("b", count=1000, weight=0.001, groups={"what": "b"}),
    ]
    shares = shares_of_run("sampling", rows, ["what"])
    assert shares.effective == pytest.approx(31**2 / 30.001)
    (difference,) = differences_of_shares([shares, sample((300, 300, 300))])
    assert (difference.refusal, difference.test) == (Refusal.FEW, None)
    assert difference.distance is not None


def test_p_values_of_samples_of_one_distribution_are_uniform():
    generator = np.random.default_rng(1)
    values = []
    for _ in range(300):
        pair = [sample(generator.multinomial(200, [0.2, 0.3, 0.5])) for _ in range(2)]
        values.append(10 ** differences_of_shares(pair)[0].test.log10_p)
    assert stats.kstest(values, "uniform").pvalue > 0.01


def test_several_runs_are_compared_with_the_first_and_corrected_as_in_statsmodels():
    runs = [sample(counts) for counts in ((100, 100, 100), (120, 90, 95), (60, 140, 100), (99, 101, 100))]
    differences = differences_of_shares(runs)
    assert [one.place for one in differences] == [1, 2, 3]
    raw = np.array([10**one.test.log10_p for one in differences])
    order = np.argsort(raw)
    expected = np.empty(3)
    expected[order] = np.minimum(1.0, np.maximum.accumulate(raw[order] * [3, 2, 1]))
    assert [10**one.log10_p_holm for one in differences] == pytest.approx(list(expected))


def test_exact_shares_have_a_distance_and_no_test():
    (difference,) = differences_of_shares([exact((0.2, 0.3, 0.5)), exact((0.02, 0.02, 0.06))])
    assert difference.distance == pytest.approx((0.0 + 0.1 + 0.1) / 2)
    assert (difference.test, difference.log10_p_holm, difference.refusal) == (None, None, Refusal.EXACT)
    assert differences_of_shares([exact((0.2, 0.3, 0.5)), exact((0.4, 0.6, 1.0))])[0].distance == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("first", "second", "refusal"),
    [
        (sample((50, 50, 50)), exact((0.2, 0.3, 0.5)), Refusal.MIXED),
        (shares_of_run("shortest_path", [match_row("a")]), sample((50, 50, 50)), Refusal.NO_SHARES),
        (sample((3, 3, 3)), sample((50, 50, 50)), Refusal.FEW),
        (shares_of_run("sampling", []), sample((50, 50, 50)), Refusal.NOTHING),
        (
            shares_of_run("distribution", [match_row("a")]),
            shares_of_run("distribution", [match_row("a")]),
            Refusal.NOTHING,
        ),
    ],
)
def test_refusals(first, second, refusal):
    (difference,) = differences_of_shares([first, second])
    assert (difference.refusal, difference.test) == (refusal, None)


def test_without_groups_shares_are_of_strings_with_their_prefixes():
    rows = [match_row("a", "x"), match_row("a", "y")]
    assert list(shares_of_run("distribution", rows).shares) == [("xa", "x"), ("ya", "y")]
