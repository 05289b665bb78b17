"""Whether groups differ in their outcomes, and by how much: tests and effect sizes of tables of counts.

5,000 completions about a man and 5,000 about a woman, counted by the profession they name:

              art    science   medicine
    man       900      2,600      1,500         chi-squared 304.9, 2 degrees of freedom, p = 10^-66.2
    woman   1,600      1,900      1,500         Cramer's V 0.17, between 0.16 and 0.19

The test says whether chance could have made the difference; with more draws a p-value of 10^-1000 is as easy to get as
one of 10^-3. No float holds such a number, so p-values are logarithms to base 10 here. V gives the size of the
difference (0: none, 1: each outcome belongs to one group), and the residuals of the single cells show where it lies.

Draws with weights enter with their effective sample size (`effective_counts`).

Sources: A. Agresti, "Categorical Data Analysis" (tests, adjusted residuals); W. Bergsma, "A bias-correction for
Cramer's V and Tschuprow's T" (2013); S. Holm, "A simple sequentially rejective multiple test procedure" (1979); ReLM
section 4.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from relens.record import Record
from relens.statistics import FEWEST_EXPECTED, Estimate

Table = Sequence[Sequence[float]] | npt.NDArray[np.floating] | npt.NDArray[np.integer]
_Floats = npt.NDArray[np.float64]

#: Below this the incomplete gamma function is taken in logarithms.
_SMALL = 1e-250
#: Terms of the continued fraction; above the mean it takes about as many as the root of the degrees of freedom.
_MOST_TERMS = 100_000


@dataclass(frozen=True)
class AssociationTest(Record):
    """A test of whether all groups have the same distribution of outcomes.

    name: "chi-squared", "G" or "paper". log10_p: logarithm to base 10 of the p-value, 0 where nothing can be tested.
    groups, outcomes: the size of the tested table. pooled: outcomes (columns of the given table) that were pooled with
    others because they were expected too seldom, or left out of the paper's variant.
    """

    name: str
    statistic: float
    degrees_of_freedom: int
    log10_p: float
    groups: int
    outcomes: int
    pooled: tuple[int, ...] = ()


@dataclass(frozen=True)
class Residual(Record):
    """The deviation of one cell from its expected count without association, in standard deviations.

    log10_p: two-sided, of this cell alone; log10_p_holm: corrected for the number of cells. small: whether the expected
    count is too small for reliable p-values.
    """

    group: int
    outcome: int
    residual: float
    log10_p: float
    log10_p_holm: float
    small: bool


def log10_chi_squared_tail(statistic: float, degrees_of_freedom: int) -> float:
    """log10 of the probability that chi-squared is at least `statistic`; exact far below what a float can hold.

    Raises `ValueError` without a degree of freedom or for a statistic below 0.
    """
    if degrees_of_freedom < 1 or not statistic >= 0.0:
        raise ValueError("Chi-squared has at least one degree of freedom and is at least 0.")
    if math.isinf(statistic):
        return -math.inf
    shape, bound = degrees_of_freedom / 2.0, statistic / 2.0
    tail = float(special.gammaincc(shape, bound))
    if tail > _SMALL:
        return math.log10(tail)
    # Q(a, x) = x^a e^-x / Gamma(a) times a continued fraction, which converges for x > a + 1: here x is far above.
    fraction = math.log(_continued_fraction(shape, bound))
    return (shape * math.log(bound) - bound - math.lgamma(shape) + fraction) / math.log(10.0)


def _continued_fraction(shape: float, bound: float) -> float:
    """1/(x+1-a- 1(1-a)/(x+3-a- 2(2-a)/(x+5-a- ...))) by Lentz's method (DLMF 8.9.2)."""
    term = bound + 1.0 - shape
    above, below = 1e300, 1.0 / term
    value = below
    for step in range(1, _MOST_TERMS):
        numerator = -step * (step - shape)
        term += 2.0
        below = 1.0 / (numerator * below + term)
        above = term + numerator / above
        change = above * below
        value *= change
        if abs(change - 1.0) < 1e-15:
            break
    return value


def chi_squared(table: Table) -> AssociationTest:
    """Pearson's test of a table (groups x outcomes) of counts, which need not be whole.

    Outcomes with an expected count below `FEWEST_EXPECTED` in some group are pooled, the rarest first. Raises
    `ValueError` for a bad table.
    """
    return _test("chi-squared", table)


def g_test(table: Table) -> AssociationTest:
    """The likelihood-ratio test of the same; pooled in the same way."""
    return _test("G", table)


def _test(name: str, table: Table) -> AssociationTest:
    counts, pooled = _pooled(_counts(table))
    groups, outcomes = counts.shape
    degrees = (groups - 1) * (outcomes - 1)
    if degrees < 1:
        return AssociationTest(name, 0.0, 0, 0.0, groups, outcomes, pooled)
    expected = _expected(counts)
    if name == "G":
        statistic = max(0.0, 2.0 * float((special.xlogy(counts, counts) - special.xlogy(counts, expected)).sum()))
    else:
        statistic = float(((counts - expected) ** 2 / expected).sum())
    return AssociationTest(
        name, statistic, degrees, log10_chi_squared_tail(statistic, degrees), groups, outcomes, pooled
    )


def paper_test(observed: Sequence[float], expected: Sequence[float]) -> AssociationTest:
    """ReLM's own variant: the counts of one group serve as the expected counts of the other (section 4.2).

    It is there to compare with published figures and is no test of two samples: the expected counts are drawn as well,
    so its p-values are too small. They are scaled to the number of observed counts; outcomes with an expected count of
    0 would make it infinite and are left out. Raises `ValueError` for counts of different lengths.
    """
    counts = _counts([list(observed), list(expected)])
    left_out = tuple(np.flatnonzero((counts[1] <= 0.0) & (counts[0] > 0.0)).tolist())
    counts = counts[:, counts[1] > 0.0]
    seen, awaited = counts
    degrees = counts.shape[1] - 1
    if degrees < 1 or not seen.sum() > 0.0:
        return AssociationTest("paper", 0.0, 0, 0.0, 2, counts.shape[1], left_out)
    awaited = awaited / awaited.sum() * seen.sum()
    statistic = float(((seen - awaited) ** 2 / awaited).sum())
    log10_p = log10_chi_squared_tail(statistic, degrees)
    return AssociationTest("paper", statistic, degrees, log10_p, 2, counts.shape[1], left_out)


def cramers_v(table: Table, *, seed: int = 0, draws: int = 1000, level: float = 0.95) -> Estimate:
    """Bergsma's bias-corrected Cramer's V: 0 without association, 1 where each outcome belongs to one group.

    The interval is a bootstrap of `draws` tables, in which every group draws as many outcomes as it had, from its own
    shares. Each such table has the noise of a sample twice over, so for the lower end the noise is subtracted twice:
    else a table without any association would seem to have some. For the upper end it is subtracted once, which makes
    the interval rather too wide. The interval is 0 to 1 where a group has fewer than `FEWEST_EXPECTED` draws, or where
    there are not two groups and two outcomes (and the value is 0).
    """
    counts = _nonempty(_counts(table))
    if min(counts.shape) < 2:
        return Estimate(0.0, 0.0, 1.0, float(counts.sum()))
    value = float(_corrected_v(counts[None], times=1)[0])
    generator = np.random.default_rng(seed)
    sizes = np.maximum(1, np.rint(counts.sum(axis=1))).astype(np.int64)
    shares = counts / counts.sum(axis=1, keepdims=True)
    drawn = np.stack(
        [generator.multinomial(int(size), share, size=draws) for size, share in zip(sizes, shares, strict=True)], axis=1
    ).astype(np.float64)
    tail = (1.0 - level) / 2.0
    low = float(np.quantile(_corrected_v(drawn, times=2), tail))
    high = float(np.quantile(_corrected_v(drawn, times=1), 1.0 - tail))
    if counts.sum(axis=1).min() < FEWEST_EXPECTED:
        low, high = 0.0, 1.0
    return Estimate(value, min(low, value), max(high, value), float(counts.sum()))


def cramers_v_of_shares(shares: Table) -> float:
    """Cramer's V of known distributions (groups x outcomes), each group with equal weight: there is no noise.

    Raises `ValueError` for a bad table.
    """
    rows = _nonempty(_counts(shares))
    if min(rows.shape) < 2:
        return 0.0
    rows = rows / rows.sum(axis=1, keepdims=True)
    expected = _expected(rows)
    squared = float(((rows - expected) ** 2 / expected).sum()) / len(rows)
    return min(1.0, math.sqrt(squared / (min(rows.shape) - 1)))


def _corrected_v(tables: _Floats, times: int) -> _Floats:
    """V of tables (tables, groups, outcomes), with the noise subtracted `times` times; outcomes may be empty."""
    total = tables.sum(axis=(1, 2))
    expected = tables.sum(axis=2, keepdims=True) * tables.sum(axis=1, keepdims=True) / total[:, None, None]
    apart = np.divide((tables - expected) ** 2, expected, out=np.zeros_like(tables), where=expected > 0.0)
    groups, outcomes = tables.shape[1:]
    others = np.maximum(total - 1.0, 1.0)
    squared = np.maximum(0.0, apart.sum(axis=(1, 2)) / total - times * (groups - 1) * (outcomes - 1) / others)
    most = np.minimum(groups - (groups - 1) ** 2 / others, outcomes - (outcomes - 1) ** 2 / others) - 1.0
    values: _Floats = np.sqrt(np.divide(squared, most, out=np.zeros_like(squared), where=most > 0.0))
    return np.minimum(1.0, values)


def residuals(table: Table) -> list[Residual]:
    """The adjusted standardised residual of every cell, row by row, with Holm's correction for their number.

    Of two groups, the residuals of an outcome are each other's mirror image, and count as one. A cell of an empty
    group or outcome has the residual 0.
    """
    counts = _counts(table)
    total = counts.sum()
    if total <= 0.0:
        return []
    expected = _expected(counts)
    rows, columns = counts.sum(axis=1, keepdims=True) / total, counts.sum(axis=0, keepdims=True) / total
    spread = np.sqrt(expected * (1.0 - rows) * (1.0 - columns))
    # If one group or one outcome has all counts, only rounding is left to compare.
    usable = spread > 1e-9 * np.sqrt(total)
    values = np.divide(counts - expected, spread, out=np.zeros_like(counts), where=usable)
    log10_p = (special.log_ndtr(-np.abs(values)) + math.log(2.0)) / math.log(10.0)
    filled = usable.any(axis=1).sum(), usable.any(axis=0).sum()
    mirrored = int((filled[0] == 2) + 1) * int((filled[1] == 2) + 1) if min(filled) >= 2 else 1
    holm = np.zeros_like(counts)
    holm[usable] = _holm(log10_p[usable], mirrored)
    return [
        Residual(
            group,
            outcome,
            float(values[group, outcome]),
            min(0.0, float(log10_p[group, outcome])),
            float(holm[group, outcome]),
            bool(expected[group, outcome] < FEWEST_EXPECTED),
        )
        for group, outcome in np.ndindex(*counts.shape)
    ]


def holm(log10_p: Sequence[float]) -> list[float]:
    """P-values (log10) corrected for their number: each still bounds the chance of any false claim."""
    return [float(value) for value in _holm(np.asarray(log10_p, np.float64), 1)]


def _holm(log10_p: _Floats, copies: int) -> _Floats:
    """Holm's correction of p-values (as logarithms), each of which is there `copies` times."""
    order = np.argsort(log10_p, kind="stable")
    hypotheses = len(log10_p) // copies
    remaining = hypotheses - np.arange(len(log10_p)) // copies
    corrected = np.minimum(0.0, np.maximum.accumulate(log10_p[order] + np.log10(np.maximum(1, remaining))))
    result = np.empty_like(log10_p)
    result[order] = corrected
    return result


def effective_counts(weights: Table, squares: Table) -> _Floats:
    """Counts for a table of weighted draws: each group's weighted shares times its effective sample size (Kish).

    weights, squares: sums of the weights, and of their squares, of the draws in each cell. Draws of equal weight keep
    their counts. A group without weight has none.
    """
    sums, squared = _counts(weights), _counts(squares)
    total, noise = sums.sum(axis=1, keepdims=True), squared.sum(axis=1, keepdims=True)
    counts: _Floats = np.divide(sums * total, noise, out=np.zeros_like(sums), where=noise > 0.0)
    return counts


def difference(first: Estimate, second: Estimate) -> Estimate:
    """The difference of two independent estimates, with the interval that theirs imply (Newcombe's, or MOVER)."""
    value = first.value - second.value
    low = value - math.hypot(first.value - first.low, second.high - second.value)
    high = value + math.hypot(first.high - first.value, second.value - second.low)
    sizes = [size for size in (first.effective_samples, second.effective_samples) if size is not None]
    return Estimate(value, max(-1.0, low), min(1.0, high), min(sizes) if sizes else None)


def total_variation(first: Sequence[float], second: Sequence[float]) -> float:
    """The distance of two distributions: the largest difference in probability of any set of outcomes, 0 to 1."""
    return 0.5 * float(np.abs(np.asarray(first, np.float64) - np.asarray(second, np.float64)).sum())


def _counts(table: Table) -> _Floats:
    try:
        counts = np.asarray(table, np.float64)
    except ValueError:
        raise ValueError("Every group of a table has a count for each outcome.") from None
    if counts.ndim != 2 or not np.isfinite(counts).all() or (counts < 0.0).any():
        raise ValueError("A table of counts has rows, columns, and no number below 0.")
    return counts


def _nonempty(counts: _Floats) -> _Floats:
    counts = counts[counts.sum(axis=1) > 0.0]
    return counts[:, counts.sum(axis=0) > 0.0]


def _expected(counts: _Floats) -> _Floats:
    """The count of each cell if every group had the same shares."""
    expected: _Floats = counts.sum(axis=1, keepdims=True) * (counts.sum(axis=0, keepdims=True) / counts.sum())
    return expected


def _pooled(counts: _Floats) -> tuple[_Floats, tuple[int, ...]]:
    """The table without empty rows and columns, its rarest outcomes pooled until each is expected often enough."""
    counts = counts[counts.sum(axis=1) > 0.0]
    places = np.flatnonzero(counts.sum(axis=0) > 0.0) if len(counts) else np.array([], np.intp)
    if not places.size:
        return np.zeros((len(counts), 0)), ()
    smallest_group = float(counts.sum(axis=1).min() / counts.sum())
    order = places[np.argsort(counts[:, places].sum(axis=0), kind="stable")]
    columns: list[_Floats] = []
    members: list[list[int]] = []
    waiting, together = np.zeros(len(counts)), list[int]()
    for place in order.tolist():
        waiting, together = waiting + counts[:, place], [*together, place]
        if waiting.sum() * smallest_group >= FEWEST_EXPECTED:
            columns.append(waiting)
            members.append(together)
            waiting, together = np.zeros(len(counts)), []
    if together and columns:
        columns[0], members[0] = columns[0] + waiting, members[0] + together
    elif together:
        columns, members = [waiting], [together]
    pooled = sorted(place for group in members if len(group) > 1 for place in group)
    return np.stack(columns, axis=1), tuple(pooled)
