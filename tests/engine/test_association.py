"""Tests and effect sizes of tables against scipy, closed forms and examples by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from relens.association import (
    chi_squared,
    cramers_v,
    cramers_v_of_shares,
    difference,
    effective_counts,
    g_test,
    holm,
    log10_chi_squared_tail,
    paper_test,
    residuals,
    total_variation,
)
from relens.statistics import Estimate

TABLE = [[900, 2600, 1500], [1600, 1900, 1500]]


def tables(smallest: int = 0, groups: int = 4, outcomes: int = 6) -> st.SearchStrategy[list[list[int]]]:
    """Tables of at least two groups and two outcomes."""
    return st.integers(2, outcomes).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(smallest, 500), min_size=width, max_size=width), min_size=2, max_size=groups
        )
    )


def poisson_log10(shape: int, bound: float) -> float:
    """log10 of Q(shape, bound) for a whole shape: the chance of fewer than `shape` events where `bound` are awaited."""
    places = np.arange(shape)
    return float(special.logsumexp(places * math.log(bound) - special.gammaln(places + 1)) - bound) / math.log(10)


@given(st.floats(0.0, 900.0), st.integers(1, 400))
def test_the_tail_is_scipys_where_scipy_has_one(statistic, degrees):
    expected = stats.chi2.logsf(statistic, degrees) / math.log(10)
    if math.isfinite(expected):
        assert log10_chi_squared_tail(statistic, degrees) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(st.floats(1.0, 1e7), st.integers(1, 600))
def test_the_tail_of_even_degrees_is_a_sum(statistic, half):
    assert log10_chi_squared_tail(statistic, 2 * half) == pytest.approx(
        poisson_log10(half, statistic / 2), rel=1e-9, abs=1e-9
    )


def test_odd_degrees_far_out():
    # One degree of freedom is a squared normal.
    for statistic in (1e3, 1e5, 1e9):
        expected = (special.log_ndtr(-math.sqrt(statistic)) + math.log(2)) / math.log(10)
        assert log10_chi_squared_tail(statistic, 1) == pytest.approx(expected, rel=1e-10)
    # Between its even neighbours, and with both methods where they meet.
    assert poisson_log10(4, 2500) < log10_chi_squared_tail(5000, 9) < poisson_log10(5, 2500)
    assert log10_chi_squared_tail(5000, 9) == pytest.approx(-1074.9, abs=0.1)


def test_no_chi_squared():
    assert log10_chi_squared_tail(math.inf, 3) == -math.inf
    assert log10_chi_squared_tail(0.0, 3) == 0.0
    for statistic, degrees in ((1.0, 0), (-1.0, 2), (math.nan, 2)):
        with pytest.raises(ValueError, match="at least one degree"):
            log10_chi_squared_tail(statistic, degrees)


@given(tables(smallest=12))
def test_tests_are_scipys(table):
    for ours, lambda_ in ((chi_squared(table), "pearson"), (g_test(table), "log-likelihood")):
        theirs = stats.chi2_contingency(table, correction=False, lambda_=lambda_)
        if min(theirs.expected_freq.ravel()) < 5:
            assert ours.pooled or ours.outcomes == 1
            continue
        assert (ours.groups, ours.outcomes, ours.pooled) == (*np.shape(table), ())
        assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-7)
        assert ours.degrees_of_freedom == theirs.dof
        if theirs.pvalue > 0:
            assert ours.log10_p == pytest.approx(math.log10(theirs.pvalue), rel=1e-8, abs=1e-8)


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_groups_and_outcomes_is_nothing(table, random):
    rows, columns = list(range(len(table))), list(range(len(table[0])))
    random.shuffle(rows)
    random.shuffle(columns)
    shuffled = [[table[row][column] for column in columns] for row in rows]
    there = {(residual.group, residual.outcome): residual for residual in residuals(table)}
    for residual in residuals(shuffled):
        same = there[rows[residual.group], columns[residual.outcome]]
        assert residual.residual == pytest.approx(same.residual, abs=1e-9)
        assert residual.log10_p_holm == pytest.approx(same.log10_p_holm, abs=1e-6)
    sums = np.sum(table, axis=0)
    if len(set(sums.tolist())) == len(sums):  # else which of two equally rare outcomes is pooled depends on the order
        assert chi_squared(shuffled).statistic == pytest.approx(chi_squared(table).statistic, rel=1e-9, abs=1e-9)
    assert cramers_v(shuffled, draws=2).value == pytest.approx(cramers_v(table, draws=2).value, abs=1e-9)


@given(tables(smallest=12), st.integers(2, 50))
def test_more_of_the_same_is_more_certain_and_no_larger(table, times):
    more = (np.array(table) * times).tolist()
    if not chi_squared(table).pooled:
        assert chi_squared(more).statistic == pytest.approx(times * chi_squared(table).statistic, rel=1e-9, abs=1e-9)
    plain = stats.contingency.association(np.array(table), method="cramer")
    enough = (np.array(table) * 10_000).tolist()
    assert cramers_v(enough, draws=2).value == pytest.approx(plain, abs=1e-3 + 0.02 * plain)


def test_rare_outcomes_are_pooled():
    table = [[50, 2, 40, 1], [45, 1, 60, 2]]
    test = chi_squared(table)
    assert test.pooled == (0, 1, 3)
    assert test.degrees_of_freedom == 1
    assert test.statistic == pytest.approx(stats.chi2_contingency([[53, 40], [48, 60]], correction=False).statistic)
    assert chi_squared([[50, 0, 40], [45, 0, 60]]).pooled == ()
    assert chi_squared([[50, 0, 40], [45, 0, 60]]).outcomes == 2
    few = chi_squared([[1, 2], [2, 1]])
    assert (few.degrees_of_freedom, few.log10_p) == (0, 0.0)


@pytest.mark.parametrize("table", [[[0, 0], [0, 0]], [[5, 9], [0, 0]], [[5], [9]], [[8, 0], [9, 0]]])
def test_nothing_to_compare(table):
    assert chi_squared(table).log10_p == g_test(table).log10_p == 0.0
    assert cramers_v(table) == Estimate(0.0, 0.0, 1.0, float(np.sum(table)))
    assert all(residual.residual == 0.0 for residual in residuals(table))


@pytest.mark.parametrize("table", [[[1, 2], [3]], [[1, -1], [2, 2]], [[1, math.nan], [2, 2]], [1, 2]])
def test_bad_tables_are_refused(table):
    with pytest.raises(ValueError, match="table"):
        chi_squared(table)


def test_the_papers_variant():
    man, woman = [900, 2600, 1500], [1600, 1900, 1500]
    ours = paper_test(man, woman)
    theirs = stats.chisquare(man, woman)
    assert ours.name == "paper"
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.log10_p == pytest.approx(math.log10(theirs.pvalue))
    # Not a test of two samples: it is about twice too sure of itself.
    assert ours.log10_p < 1.5 * chi_squared([man, woman]).log10_p
    scaled = paper_test(man, [10 * count for count in woman])
    assert scaled.statistic == pytest.approx(ours.statistic)
    assert paper_test([5, 10, 3], [7, 9, 0]).pooled == (2,)
    assert paper_test([0, 0], [7, 9]).log10_p == 0.0
    assert paper_test([3, 4], [0, 9]).log10_p == 0.0


def test_cramers_v_by_hand():
    # chi-squared 20 of 20 draws: phi2 = 1, less 1/19; the sizes 2 less 1/19 each, less 1.
    assert cramers_v([[10, 0], [0, 10]]).value == pytest.approx(1.0)
    table = [[30, 20], [20, 30]]  # chi-squared 4: phi2 = 0.04
    expected = math.sqrt((0.04 - 1 / 99) / (1 - 1 / 99))
    assert cramers_v(table).value == pytest.approx(expected)
    assert cramers_v([[25, 25], [25, 25]]).value == 0.0
    few = cramers_v([[2, 1], [1, 2]])
    assert (few.low, few.high) == (0.0, 1.0)


@given(tables(smallest=1))
def test_v_of_known_shares(table):
    shares = np.array(table) / np.sum(table, axis=1, keepdims=True)
    many = np.rint(shares * 10_000_000).astype(int)
    plain = stats.contingency.association(many, method="cramer")
    assert cramers_v_of_shares(shares) == pytest.approx(plain, abs=1e-3)
    assert cramers_v_of_shares([[1.0, 0.0], [1.0, 0.0]]) == 0.0


def test_the_interval_of_cramers_v():
    assert cramers_v(TABLE, seed=3) == cramers_v(TABLE, seed=3)
    assert cramers_v(TABLE, seed=3) != cramers_v(TABLE, seed=4)
    generator = np.random.default_rng(5)
    # Without association the interval reaches 0, nearly always; with one it holds the truth about as often as it says.
    none = [0.1, 0.2, 0.3, 0.25, 0.15]
    reaches = sum(
        cramers_v([generator.multinomial(400, none) for _ in range(2)], draws=200).low == 0.0 for _ in range(100)
    )
    assert reaches >= 90
    some = [0.2, 0.3, 0.2, 0.2, 0.1]
    truth = stats.contingency.association(np.rint(np.array([none, some]) * 100_000).astype(int), method="cramer")
    held = 0
    for seed in range(100):
        drawn = [generator.multinomial(1000, shares) for shares in (none, some)]
        estimate = cramers_v(drawn, draws=200, seed=seed)
        held += estimate.low <= truth <= estimate.high
    assert held >= 88


def test_residuals_by_hand():
    cells = residuals([[30, 20], [20, 30]])
    # (30 - 25) / sqrt(25 * 0.5 * 0.5) = 2, and all four say the same once.
    assert [round(cell.residual, 12) for cell in cells] == [2, -2, -2, 2]
    for cell in cells:
        assert cell.log10_p == pytest.approx(math.log10(2 * stats.norm.sf(2)))
        assert cell.log10_p_holm == pytest.approx(cell.log10_p)
        assert not cell.small
    assert all(cell.small for cell in residuals([[3, 2], [2, 3]]))


def test_holm_counts_mirror_images_once():
    cells = residuals([[120, 60, 20, 200], [80, 65, 25, 230]])[:4]
    alone = sorted(cell.log10_p for cell in cells)
    corrected, worst = [], -math.inf
    for place, value in enumerate(alone):
        worst = max(worst, min(0.0, value + math.log10(4 - place)))
        corrected.append(worst)
    assert sorted(cell.log10_p_holm for cell in cells) == pytest.approx(corrected)


@given(st.lists(st.floats(-400.0, 0.0), min_size=1, max_size=8))
def test_holm_one_by_one(values):
    """The definition: p is rejected at a level while each smaller one times those not yet rejected is below it."""
    corrected = holm(values)
    for value, result in zip(values, corrected, strict=True):
        steps = [
            smaller + math.log10(len(values) - place)
            for place, smaller in enumerate(sorted(values))
            if smaller <= value and place <= sorted(values).index(value)
        ]
        assert result == pytest.approx(min(0.0, max(steps)), abs=1e-9)


@given(tables(smallest=1))
def test_residuals_square_up_to_chi_squared(table):
    cells = residuals(table)
    counts = np.array(table)
    rows, columns = counts.sum(axis=1) / counts.sum(), counts.sum(axis=0) / counts.sum()
    squares = sum(
        (cell.residual**2) * (1 - rows[cell.group]) * (1 - columns[cell.outcome]) for cell in cells
    )  # (o - e)^2 / e
    assert squares == pytest.approx(stats.chi2_contingency(table, correction=False).statistic, rel=1e-8, abs=1e-8)
    for cell in cells:
        assert cell.log10_p <= cell.log10_p_holm <= 0.0


@given(tables(), st.floats(1e-12, 1.0))
def test_equal_weights_leave_counts_as_they_are(table, weight):
    counts = np.array(table, np.float64)
    assert effective_counts(counts * weight, counts * weight**2) == pytest.approx(counts, abs=1e-9)


def test_unequal_weights_count_as_fewer_draws():
    # 500 draws of weight 0.1, and 500 of 0.02: an effective sample size of 692.3, of which 5/6.
    effective = effective_counts([[50.0, 10.0]], [[5.0, 0.2]])
    assert effective.sum() == pytest.approx(60**2 / 5.2)
    assert effective[0, 0] == pytest.approx(60**2 / 5.2 * 5 / 6)
    assert effective_counts([[0.0, 0.0]], [[0.0, 0.0]]).sum() == 0.0


def test_differences():
    first, second = Estimate(0.5, 0.4, 0.62, 80.0), Estimate(0.3, 0.25, 0.38, None)
    estimate = difference(first, second)
    assert estimate.value == pytest.approx(0.2)
    assert estimate.low == pytest.approx(0.2 - math.hypot(0.1, 0.08))
    assert estimate.high == pytest.approx(0.2 + math.hypot(0.12, 0.05))
    assert estimate.effective_samples == 80.0
    assert difference(Estimate.exact(0.5), Estimate.exact(0.2)) == Estimate.exact(0.3)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=5))
def test_total_variation_is_the_most_any_set_differs(cells):
    first, second = (np.array(side) / max(1, sum(side)) for side in zip(*cells, strict=True))
    if sum(first) and sum(second):
        most = max(
            abs(sum(first[place] - second[place] for place in range(len(cells)) if chosen >> place & 1))
            for chosen in range(1 << len(cells))
        )
        assert total_variation(first, second) == pytest.approx(most, abs=1e-12)
