"""Whether two runs differ in their shares, and by how much.

Two samples of 5,000 draws each, or two exact distributions, of `(?P<what>art|science|math)`:

    sample         art 900, science 2,600, math 1,500          chi-squared for homogeneity, Cramer's V
    sample         art 1,600, science 1,900, math 1,500

    distribution   art 0.18, science 0.52, math 0.30           total variation distance 0.14, and no test
    distribution   art 0.32, science 0.38, math 0.30

Exact shares have no chance in them, so any difference is real, and only its size is given. Weighted draws enter the
test with their effective sample size (Kish, `relens.association.effective_counts`); where that is too small, nothing is
tested. A sample is not tested against a distribution, nor anything against a best-first search: see `Refusal`.

Of several runs, each is compared with the first, and p-values are corrected for their number (Holm).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relens.association import (
    AssociationTest,
    chi_squared,
    cramers_v,
    cramers_v_of_shares,
    effective_counts,
    holm,
    total_variation,
)
from relens.query import Distribution, Sampling
from relens.statistics import Estimate
from relens.traversal.summaries import groups_of

Rows = Sequence[Mapping[str, Any]]
#: The values of some named groups or, without groups, a string with its prefix.
Outcome = tuple[str | None, ...]

#: A sample with fewer draws than this is not tested: the test needs many.
FEWEST_DRAWS = 20.0
#: Nor is one of unequal weights with a smaller effective sample size than this: as in the study of bias, the likeliest
#: text may then be missing from the draws.
FEWEST_EFFECTIVE = 80.0
#: Weights count as unequal where the effective sample size is below this part of the draws.
_UNEQUAL = 0.9


class Refusal(enum.StrEnum):
    """Why two runs are not tested."""

    NO_SHARES = "a best-first search"
    EXACT = "exact shares"
    MIXED = "a sample beside a distribution"
    FEW = "too few effective draws"
    NOTHING = "nothing to compare"


@dataclass(frozen=True)
class SharesOfRun:
    """The shares of one run by outcome, which add up to 1 if there are any, and the sums behind them.

    kind: of the traversal. draws: the draws of a sample that are matches, else 0. effective: their effective sample
    size; None for exact shares.
    """

    kind: str
    shares: dict[Outcome, float]
    weights: dict[Outcome, float]
    squares: dict[Outcome, float]
    draws: int
    effective: float | None


@dataclass(frozen=True)
class Difference:
    """How far one run is from the first.

    distance: total variation, 0 to 1, the largest difference in probability of any set of outcomes. test and strength
    (Cramer's V): for two samples; strength alone for two distributions. log10_p_holm: corrected for the number of
    tested runs. refusal: why there is no test, None where there is one.
    """

    place: int
    distance: float | None
    test: AssociationTest | None = None
    strength: Estimate | None = None
    log10_p_holm: float | None = None
    refusal: Refusal | None = None


def shares_of_run(kind: str, rows: Rows, names: Sequence[str] = ()) -> SharesOfRun:
    """The shares of a run (its traversal's kind, its rows) by the values of these groups, or by string."""
    # As parts of the largest, so that the squares of tiny weights do not vanish.
    scale = max((float(row["weight"]) for row in rows), default=0.0) or 1.0
    weights: dict[Outcome, float] = {}
    squares: dict[Outcome, float] = {}
    for row in rows:
        outcome = outcome_of(row, names)
        count, weight = int(row["count"]), float(row["weight"]) / scale
        weights[outcome] = weights.get(outcome, 0.0) + count * weight
        squares[outcome] = squares.get(outcome, 0.0) + count * weight**2
    total, noise = sum(weights.values()), sum(squares.values())
    sampled = kind == Sampling.kind
    return SharesOfRun(
        kind=kind,
        shares={outcome: weight / total if total else 0.0 for outcome, weight in weights.items()},
        weights=weights,
        squares=squares,
        draws=sum(int(row["count"]) for row in rows) if sampled else 0,
        effective=(total**2 / noise if noise else 0.0) if sampled else None,
    )


def outcome_of(row: Mapping[str, Any], names: Sequence[str]) -> Outcome:
    """The outcome of a row."""
    if not names:
        return row["text"], row["prefix_text"]
    groups = groups_of(row)
    return tuple(groups.get(name) for name in names)


def differences_of_shares(runs: Sequence[SharesOfRun]) -> list[Difference]:
    """How far each run after the first is from the first."""
    differences = [_difference(runs[0], other, place) for place, other in enumerate(runs) if place]
    tested = [one for one in differences if one.test is not None]
    corrected = dict(
        zip(
            (one.place for one in tested),
            holm([one.test.log10_p for one in tested if one.test is not None]),
            strict=True,
        )
    )
    return [
        Difference(one.place, one.distance, one.test, one.strength, corrected.get(one.place), one.refusal)
        for one in differences
    ]


def _is_large_enough(sample: SharesOfRun) -> bool:
    """Whether a sample has enough effective draws for a test."""
    effective = sample.effective or 0.0
    return effective >= (FEWEST_DRAWS if effective >= _UNEQUAL * sample.draws else FEWEST_EFFECTIVE)


def _difference(first: SharesOfRun, other: SharesOfRun, place: int) -> Difference:
    kinds = {first.kind, other.kind}
    if not kinds <= {Sampling.kind, Distribution.kind}:
        return Difference(place, None, refusal=Refusal.NO_SHARES)
    outcomes = list(dict.fromkeys([*first.shares, *other.shares]))
    if not first.shares or not other.shares or len(outcomes) < 2:
        return Difference(place, None, refusal=Refusal.NOTHING)
    shares = [[run.shares.get(outcome, 0.0) for outcome in outcomes] for run in (first, other)]
    distance = total_variation(*shares)
    if kinds == {Distribution.kind}:
        strength = Estimate.exact(cramers_v_of_shares(shares))
        return Difference(place, distance, strength=strength, refusal=Refusal.EXACT)
    if len(kinds) > 1:
        return Difference(place, distance, refusal=Refusal.MIXED)
    if not (_is_large_enough(first) and _is_large_enough(other)):
        return Difference(place, distance, refusal=Refusal.FEW)
    counts = effective_counts(
        [[run.weights.get(outcome, 0.0) for outcome in outcomes] for run in (first, other)],
        [[run.squares.get(outcome, 0.0) for outcome in outcomes] for run in (first, other)],
    )
    return Difference(place, distance, test=chi_squared(counts), strength=cramers_v(counts))
