"""Estimates from weighted draws, with intervals, and a test whether draws fit a distribution.

A sample is drawn token by token among the legal ones, not from the model's distribution over the language. So each
draw carries a weight, and 1,000 draws of which 500 are about women say little by that number alone:

    500 draws about women, weight 0.1 each       share of women = 50 / (50 + 10) = 83 %
    500 draws about men, weight 0.02 each        effective sample size: about 692

A row (weight, count) stands for `count` draws of that weight. Intervals are made to hold rather than to be short: the
loss by unequal weights is estimated in two ways and the larger one counts, and a share of 0 or 1 still gets an
interval.

Sources: A. Owen, "Monte Carlo theory, methods and examples", chapter 9 (self-normalised importance sampling); L. Kish,
"Survey Sampling" (effective sample size); E. Korn and B. Graubard, "Confidence intervals for proportions with small
expected number of positive counts estimated from survey data" (Clopper and Pearson at the effective size).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from relens.record import Record

#: Cells that expect fewer draws than this are pooled in `goodness_of_fit`.
FEWEST_EXPECTED = 5.0

Numbers = Sequence[float] | npt.NDArray[np.floating]
Counts = Sequence[int] | npt.NDArray[np.integer]


@dataclass(frozen=True)
class Estimate(Record):
    """A value with its interval; effective_samples: the effective sample size, None where it is exact."""

    value: float
    low: float
    high: float
    effective_samples: float | None = None

    @classmethod
    def exact(cls, value: float) -> Estimate:
        """A value that is known."""
        return cls(value, value, value)


def effective_sample_size(weights: Numbers, counts: Counts) -> float:
    """The number of equally weighted draws with the same precision: (sum of w)^2 / sum of w^2, 0 without any weight."""
    weight, count, _ = _columns(weights, counts)
    squares = float(count @ weight**2)
    return float(count @ weight) ** 2 / squares if squares > 0.0 else 0.0


class WeightSums(NamedTuple):
    """Sums over draws: their number, their weights, and the squares of the weights."""

    draws: float = 0.0
    weight: float = 0.0
    squares: float = 0.0


def share_of_sums(part: WeightSums, whole: WeightSums, level: float = 0.95) -> Estimate:
    """The share of a part of the draws in the weight of the whole: its probability among all matches.

    The interval is Clopper and Pearson's at the effective number of draws, the smaller one of Kish's and that of the
    linearised variance. Without any weight the share is 0, between 0 and 1.
    """
    if whole.weight <= 0.0:
        return Estimate(0.0, 0.0, 1.0, 0.0)
    share = min(1.0, part.weight / whole.weight)
    effective = whole.weight**2 / whole.squares
    if whole.draws > 1 and 0.0 < share < 1.0:
        # The ratio of two sums, linearised at its value: each draw moves it by w (m - share) / total, where m is 1 for
        # a draw of the part and 0 for another.
        moved = (1.0 - share) ** 2 * part.squares + share**2 * max(0.0, whole.squares - part.squares)
        variance = moved / whole.weight**2 * whole.draws / (whole.draws - 1.0)
        if variance > 0.0:
            effective = min(effective, share * (1.0 - share) / variance)
    # With few effective draws the variance itself is uncertain, as in Student's distribution.
    narrowed = effective * min(1.0, (_normal(level) / _student(level, max(effective - 1.0, 1.0))) ** 2)
    return Estimate(share, *_proportion_interval(share, narrowed, level), effective)


def weighted_mass(weights: Numbers, counts: Counts, draws: int, level: float = 0.95) -> Estimate:
    """The mean weight over all draws, failed ones included: the probability that the decoder's output is a match.

    draws: their number in all; those in no row have failed, with weight 0. Unbiased. The interval is Student's on the
    scale of the logarithm, where weights of different magnitudes are less skewed, computed as if one more draw might
    have had the largest weight, and at least as wide as that of a proportion of this largest weight. Weights are
    probabilities; equal weights, as for a single choice, are exact. Raises `ValueError` without a draw.
    """
    if draws < 1:
        raise ValueError("A mean needs at least one draw.")
    weight, count, largest = _columns(weights, counts)
    mean = float(count @ weight) / draws
    effective = effective_sample_size(weights, counts)
    if mean <= 0.0:
        return Estimate(0.0, 0.0, _proportion_interval(0.0, draws, level)[1], effective)
    if draws == 1:
        return Estimate(mean * largest, 0.0, 1.0, effective)
    failed = draws - float(count.sum())
    variance = (float(count @ (weight - mean) ** 2) + failed * mean**2) / (draws - 1) / draws
    if variance <= (1e-9 * mean) ** 2:
        return Estimate.exact(mean * largest)
    spread = math.sqrt(variance + ((1.0 - mean) / draws) ** 2) / mean * _student(level, draws - 1)
    low, high = _proportion_interval(mean, mean * (1.0 - mean) / variance, level)
    return Estimate(
        mean * largest,
        min(mean * math.exp(-spread), low) * largest,
        min(1.0, max(mean * math.exp(min(spread, 700.0)), high) * largest),
        effective,
    )


@dataclass(frozen=True)
class GoodnessOfFit(Record):
    """Pearson's chi-squared statistic, its degrees of freedom, and its p-value under the expectation.

    Without a degree of freedom, with a single cell for instance, the statistic is 0 and the p-value 1.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float


def goodness_of_fit(observed: Counts, expected: Numbers) -> GoodnessOfFit:
    """Whether counts fit the expected probabilities, which need not sum to 1 exactly.

    Cells that expect fewer than `FEWEST_EXPECTED` draws are pooled, the smallest first, until they expect so many. A
    draw of probability 0 gives infinity and a p-value of 0. Raises `ValueError` where the two have different lengths,
    or nothing is expected.
    """
    counts, probabilities = np.asarray(observed, np.float64), np.asarray(expected, np.float64)
    if counts.shape != probabilities.shape:
        raise ValueError(f"{counts.size} counts do not go with {probabilities.size} expected probabilities.")
    if not probabilities.sum() > 0.0:
        raise ValueError("Nothing is expected.")
    impossible = probabilities <= 0.0
    if counts[impossible].any():
        return GoodnessOfFit(math.inf, max(1, counts.size - 1), 0.0)
    counts, probabilities = counts[~impossible], probabilities[~impossible]
    cells = _pooled(counts, probabilities / probabilities.sum() * counts.sum())
    degrees = len(cells) - 1
    if degrees < 1:
        return GoodnessOfFit(0.0, 0, 1.0)
    statistic = sum((seen - awaited) ** 2 / awaited for seen, awaited in cells)
    return GoodnessOfFit(statistic, degrees, float(special.chdtrc(degrees, statistic)))


def _pooled(counts: npt.NDArray[np.float64], expected: npt.NDArray[np.float64]) -> list[tuple[float, float]]:
    """(count, expected count) of cells that expect enough; the remainder joins the first of them."""
    cells: list[tuple[float, float]] = []
    seen = awaited = 0.0
    for place in np.argsort(expected, kind="stable").tolist():
        seen, awaited = seen + float(counts[place]), awaited + float(expected[place])
        if awaited >= FEWEST_EXPECTED:
            cells.append((seen, awaited))
            seen = awaited = 0.0
    if awaited and cells:
        cells[0] = cells[0][0] + seen, cells[0][1] + awaited
    return cells


def _columns(weights: Numbers, counts: Counts) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]:
    """Weights, counts and the largest weight of any draw, of which the weights are fractions: squares stay above 0."""
    weight, count = np.asarray(weights, np.float64), np.asarray(counts, np.float64)
    largest = float(weight[count > 0].max(initial=0.0))
    return (weight / largest if largest > 0.0 else weight), count, largest


def _proportion_interval(share: float, draws: float, level: float) -> tuple[float, float]:
    """Clopper and Pearson's interval for a share of so many draws, neither of which need be whole."""
    seen, unseen = share * draws, (1.0 - share) * draws
    tail = (1.0 - level) / 2.0
    low = float(special.betaincinv(seen, unseen + 1.0, tail)) if seen > 0.0 else 0.0
    high = float(special.betaincinv(seen + 1.0, unseen, 1.0 - tail)) if unseen > 0.0 else 1.0
    return min(low, share), max(high, share)


def _normal(level: float) -> float:
    return float(special.ndtri(0.5 + level / 2.0))


def _student(level: float, degrees: float) -> float:
    return float(special.stdtrit(degrees, 0.5 + level / 2.0))
