from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from relens.statistics import (
    Estimate,
    effective_sample_size,
    goodness_of_fit,
    weighted_mass,
)
from tests.engine.weighted_share import weighted_share

_rows = st.lists(
    st.tuples(st.floats(1e-6, 1.0), st.integers(1, 50), st.booleans()), min_size=1, max_size=8
)  # weight, count, member


def test_effective_sample_size():
    assert effective_sample_size([0.2, 0.2], [3, 4]) == pytest.approx(7)
    assert effective_sample_size([0.1, 0.02], [500, 500]) == pytest.approx(60**2 / 5.2)
    assert effective_sample_size([1.0, 1e-12], [1, 9]) == pytest.approx(1)
    assert effective_sample_size([1e-300, 1e-300], [2, 3]) == pytest.approx(5)
    assert effective_sample_size([0.0, 0.0], [3, 4]) == 0.0
    assert effective_sample_size([], []) == 0.0


def test_equal_weights_are_clopper_and_pearson():
    estimate = weighted_share([0.3, 0.3], [7, 993], [True, False])
    interval = stats.binomtest(7, 1000).proportion_ci(method="exact")
    assert estimate.value == pytest.approx(0.007)
    assert (estimate.low, estimate.high) == (
        pytest.approx(interval.low, rel=0.01),
        pytest.approx(interval.high, rel=0.01),
    )
    assert estimate.low <= interval.low <= interval.high <= estimate.high
    assert estimate.effective_samples == pytest.approx(1000, rel=0.01)


def test_a_share_by_hand():
    estimate = weighted_share([0.1, 0.02], [500, 500], [True, False])
    assert estimate.value == pytest.approx(50 / 60)
    assert 0 < estimate.low < estimate.value < estimate.high < 1


def test_shares_at_the_ends_have_intervals():
    never = weighted_share([1.0, 1.0], [0, 50], [True, False])
    always = weighted_share([1.0], [50], [True])
    assert (never.value, never.low) == (0.0, 0.0)
    assert (always.value, always.high) == (1.0, 1.0)
    assert never.high == pytest.approx(1 - always.low) == pytest.approx(1 - 0.025 ** (1 / 50), rel=0.06)
    assert weighted_share([], [], []) == Estimate(0.0, 0.0, 1.0, 0.0)
    assert weighted_share([0.0], [9], [True]) == Estimate(0.0, 0.0, 1.0, 0.0)


@given(rows=_rows, scale=st.sampled_from([1e-200, 1e-3, 1.0]))
def test_laws_of_shares(rows, scale):
    weights, counts, member = (list(column) for column in zip(*rows, strict=True))
    estimate = weighted_share(weights, counts, member)
    assert 0.0 <= estimate.low <= estimate.value <= estimate.high <= 1.0
    assert 0.0 < estimate.effective_samples <= sum(counts) * (1 + 1e-9)
    # The others have the rest; weights have no unit; a row may be cut in two.
    rest = weighted_share(weights, counts, [not one for one in member])
    assert estimate.value + rest.value == pytest.approx(1)
    assert estimate.low + rest.high == pytest.approx(1)
    scaled = weighted_share([weight * scale for weight in weights], counts, member)
    assert (scaled.low, scaled.value, scaled.high) == pytest.approx((estimate.low, estimate.value, estimate.high))
    cut = weighted_share([*weights, weights[0]], [*counts[:0], 1, *counts[1:], counts[0] - 1], [*member, member[0]])
    assert (cut.low, cut.value, cut.high) == pytest.approx((estimate.low, estimate.value, estimate.high))


#: Draws of several strings with given chances; each has a weight, and the first two are members.
SHARES = {
    "equal weights": ([0.05, 0.1, 0.4, 0.45], [1, 1, 1, 1]),
    "a rare member": ([0.01, 0.01, 0.5, 0.48], [0.5, 0.4, 0.5, 0.6]),
    "heavy members": ([0.05, 0.1, 0.4, 0.45], [0.9, 0.8, 0.1, 0.05]),
    "light members": ([0.3, 0.3, 0.2, 0.2], [0.02, 0.05, 0.9, 0.8]),
    "mixed": ([0.1, 0.2, 0.3, 0.4], [0.01, 0.9, 0.4, 0.1]),
}


@pytest.mark.parametrize("draws", [100, 1000])
@pytest.mark.parametrize("name", SHARES)
def test_intervals_of_shares_hold(name: str, draws: int):
    chances, weights = map(np.array, SHARES[name])
    member = np.array([True, True, False, False])
    truth = (chances * weights)[:2].sum() / (chances * weights).sum()
    generator = np.random.default_rng(5)
    held = 0
    for _ in range(400):
        estimate = weighted_share(weights, generator.multinomial(draws, chances), member)
        held += estimate.low <= truth <= estimate.high
    assert held >= 0.95 * 400


def test_a_mass_by_hand():
    estimate = weighted_mass([0.5, 0.1], [2, 5], 10)
    assert estimate.value == pytest.approx(0.15)
    assert 0 < estimate.low < 0.15 < estimate.high < 1
    assert estimate.effective_samples == pytest.approx(1.5**2 / 0.55)
    # Nothing random is left where all weights are equal.
    assert weighted_mass([0.25, 0.25], [4, 6], 10) == Estimate.exact(0.25)
    assert weighted_mass([0.25], [1], 1) == Estimate(0.25, 0.0, 1.0, 1.0)
    nothing = weighted_mass([], [], 100)
    assert (nothing.value, nothing.low) == (0.0, 0.0)
    assert nothing.high == pytest.approx(1 - 0.025 ** (1 / 100))
    with pytest.raises(ValueError):
        weighted_mass([], [], 0)


@given(rows=_rows, failed=st.integers(0, 30), scale=st.sampled_from([1e-200, 1e-3, 1.0]))
def test_laws_of_masses(rows, failed, scale):
    weights, counts, _ = (list(column) for column in zip(*rows, strict=True))
    draws = sum(counts) + failed
    estimate = weighted_mass([weight * scale for weight in weights], counts, draws)
    every = np.concatenate([np.repeat(weights, counts), np.zeros(failed)]) * scale
    assert estimate.value == pytest.approx(every.mean())
    assert 0.0 <= estimate.low <= estimate.value * (1 + 1e-12)
    assert estimate.value <= estimate.high * (1 + 1e-12) <= 1.0 + 1e-9


MASSES = {
    "hardly ever": lambda generator, size: ((generator.random(size) < 0.02) * 1.0, 0.02),
    "uniform": lambda generator, size: (generator.random(size), 0.5),
    "three steps": lambda generator, size: (generator.beta(0.5, 2, (size, 3)).prod(axis=1), 0.2**3),
    "orders of magnitude": lambda generator, size: (np.exp(generator.normal(-5, 1, size)), math.exp(-4.5)),
    "failures too": lambda generator, size: ((generator.random(size) < 0.3) * generator.random(size), 0.15),
}


@pytest.mark.parametrize("name", MASSES)
def test_intervals_of_masses_hold(name: str):
    generator = np.random.default_rng(2)
    held = 0
    for _ in range(400):
        weights, truth = MASSES[name](generator, 500)
        estimate = weighted_mass(weights[weights > 0], np.ones(np.count_nonzero(weights), int), 500)
        held += estimate.low <= truth <= estimate.high
    assert held >= 0.95 * 400


def test_goodness_of_fit_is_pearsons():
    observed, expected = [30, 50, 120], [0.2, 0.2, 0.6]
    fit = goodness_of_fit(observed, expected)
    oracle = stats.chisquare(observed, np.array(expected) * 200)
    assert (fit.statistic, fit.p_value) == pytest.approx((oracle.statistic, oracle.pvalue))
    assert fit.degrees_of_freedom == 2


def test_small_cells_are_pooled():
    # 100 draws: the cells that expect 1, 2 and 3 are one that expects 6; the 4 joins the 35.
    fit = goodness_of_fit([0, 4, 1, 5, 60, 30], [0.01, 0.02, 0.03, 0.04, 0.55, 0.35])
    oracle = stats.chisquare([5, 35, 60], [6, 39, 55])
    assert (fit.statistic, fit.p_value) == pytest.approx((oracle.statistic, oracle.pvalue))
    assert fit.degrees_of_freedom == 2


def test_expectations_that_cannot_be_tested():
    assert goodness_of_fit([1, 2], [0.5, 0.5]).p_value == 1.0
    assert goodness_of_fit([100], [1.0]).degrees_of_freedom == 0
    impossible = goodness_of_fit([50, 49, 1], [0.5, 0.5, 0.0])
    assert (impossible.statistic, impossible.p_value) == (math.inf, 0.0)
    assert goodness_of_fit([50, 50, 0], [0.5, 0.5, 0.0]).p_value == 1.0
    with pytest.raises(ValueError):
        goodness_of_fit([1, 2], [1.0])
    with pytest.raises(ValueError):
        goodness_of_fit([0], [0.0])


def test_p_values_are_uniform_where_the_expectation_is_true():
    generator = np.random.default_rng(0)
    chances = np.array([0.4, 0.3, 0.2, 0.05, 0.02, 0.01, 0.01, 0.01])
    p_values = [goodness_of_fit(generator.multinomial(2000, chances), chances).p_value for _ in range(500)]
    assert stats.kstest(p_values, "uniform").pvalue > 0.01


def test_estimates_survive_json():
    estimate = weighted_share([0.1, 0.02], [500, 500], [True, False])
    assert Estimate.from_json(estimate.to_json()) == estimate
