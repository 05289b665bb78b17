"""What the rows of a bias study say: shares, tests, what changes between variants, and where edits fall.

    rows of "canonical, prefix, no edit, sampled"            man     woman    woman - man
      {"asked": "man", "outcome": "art", "count": 812,  art   0.16    0.31     0.15 (0.13 to 0.17)
       "weight": 0.013, ...}                       science   0.44    0.33    -0.11 ...

Everything here comes from the rows alone. There are two ways to count them, and they answer different questions:

    "weights"   each draw by its weight: the model's own P(outcome | subject), an estimate with as many effective draws
                as the weights leave (where they differ much, few of thousands)
    "draws"     each draw as one, which is the paper's way: what this sampler draws, token by token among the legal ones

The statistics of a sample are those of effective counts (`engine.association.effective_counts`): each subject's shares
times the effective number of its draws, by Kish's formula. An exact distribution needs none: what differs in it does.
What could not be told, because edits made it ambiguous, is left out of the shares, and its own share is given.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from engine.association import (
    AssociationTest,
    Residual,
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
from engine.query import Record
from engine.statistics import FEWEST_EXPECTED, Estimate, WeightSums, goodness_of_fit, share_of_sums
from engine.studies.study import UNIT, done_units, rows_of

Rows = Iterable[Mapping[str, Any]]
Counted = Literal["weights", "draws"]


@dataclass(frozen=True)
class OutcomeShare(Record):
    """P(outcome | subject) among what could be told, and the number of draws that were counted."""

    subject: str
    outcome: str
    share: Estimate
    count: int


@dataclass(frozen=True)
class ShareDifference(Record):
    """P(outcome | subject) - P(outcome | other).

    log10_p_holm: of the residual of this outcome in the table of these two subjects, as corrected for all outcomes and
    pairs of subjects of the variant. None where it is exact, or where too few are expected for a p-value.
    """

    subject: str
    other: str
    outcome: str
    value: Estimate
    log10_p_holm: float | None = None

    @property
    def is_certain(self) -> bool:
        """Whether the interval lies to one side of zero."""
        return self.value.low > 0.0 or self.value.high < 0.0


@dataclass(frozen=True)
class SubjectAccount(Record):
    """How much stands behind the shares of one subject.

    draws: that were wanted, 0 of an exact distribution; failed: those that led nowhere. effective_samples: how many of
    equal weight would say as much, None where exact. ambiguous: the share of the weight of what could not be told.
    open_share: of an exact distribution, the most that what was not gone through could be, as a share of all.
    """

    subject: str
    draws: int
    failed: int
    effective_samples: float | None
    ambiguous: float
    open_share: float
    forwards: int
    seconds: float
    ended: str


@dataclass(frozen=True)
class VariantFindings(Record):
    """One variant: its table and its statistics.

    done: whether all its rows are there. tests: chi-squared and G of effective counts, and, where there are two
    subjects, the paper's variant: the draws of the first as they came, those of the second taken as expected. None
    where exact. cramers_v: of an exact distribution without an interval.
    """

    unit: str
    label: str
    exact: bool
    edited: bool
    done: bool
    subjects: tuple[str, ...]
    outcomes: tuple[str, ...]
    shares: tuple[OutcomeShare, ...]
    accounts: tuple[SubjectAccount, ...]
    differences: tuple[ShareDifference, ...]
    cramers_v: Estimate
    tests: tuple[AssociationTest, ...] = ()
    residuals: tuple[Residual, ...] = ()

    def values(self, subject: str) -> list[float]:
        """The shares of one subject, in the order of `outcomes`."""
        return [share.share.value for share in self.shares if share.subject == subject]


@dataclass(frozen=True)
class SignChange(Record):
    """A difference that has one sign in one variant and the other in another; certain: neither interval holds zero."""

    subject: str
    other: str
    outcome: str
    first: Estimate
    second: Estimate
    certain: bool


@dataclass(frozen=True)
class Comparison(Record):
    """What changes between two variants, which are units.

    For each subject: total_variation: how far its two distributions are apart (0 to 1), which in samples is never quite
    0; log10_p: of a test whether they are the same, None where both are exact; swapped: how many pairs of outcomes have
    changed their order; top: the likeliest outcome in both.
    """

    first: str
    second: str
    total_variation: dict[str, float]
    log10_p: dict[str, float | None]
    swapped: dict[str, int]
    top: dict[str, tuple[str, ...]]
    sign_changes: tuple[SignChange, ...]


@dataclass(frozen=True)
class PositionCurve(Record):
    """Which share of the edits falls at a position or before it; positions in characters. edits: how many there are."""

    name: str
    positions: tuple[int, ...]
    cumulative: tuple[float, ...]
    edits: int


@dataclass(frozen=True)
class BiasFindings(Record):
    """All of it. counted: how draws are counted."""

    counted: Counted
    variants: tuple[VariantFindings, ...]
    comparisons: tuple[Comparison, ...]
    prefix_curves: tuple[PositionCurve, ...]
    match_curves: tuple[PositionCurve, ...]


def bias_findings(rows: Rows, counted: Counted = "weights", seed: int = 0) -> BiasFindings:
    """The findings of the rows of a `BiasStudy`, of as many as there are. seed: of the bootstrap."""
    table = list(rows)
    done = done_units(table)
    by_unit: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in table:
        by_unit[str(row[UNIT])].append(row)
    variants, match_curves = [], []
    for unit, of_unit in by_unit.items():
        for head in rows_of(of_unit, "variant"):
            variants.append(_variant(unit, head, of_unit, counted, unit in done, seed))
            if head["edited"]:
                match_curves.append(_match_curve(head["label"], rows_of(of_unit, "match")))
    usable = [variant for variant in variants if all(sum(variant.values(subject)) for subject in variant.subjects)]
    return BiasFindings(
        counted,
        tuple(variants),
        tuple(_compare(first, second) for first, second in combinations(usable, 2)),
        tuple(_prefix_curves(rows_of(table, "position"))),
        tuple(curve for curve in match_curves if curve.edits),
    )


def _variant(
    unit: str, head: Mapping[str, Any], rows: list[Mapping[str, Any]], counted: Counted, done: bool, seed: int
) -> VariantFindings:
    subjects, outcomes, exact = tuple(head["subjects"]), tuple(head["outcomes"]), bool(head["exact"])
    answered = {row["asked"]: row for row in rows_of(rows, "account")}
    shares: list[OutcomeShare] = []
    accounts: list[SubjectAccount] = []
    weights, squares = np.zeros((2, len(subjects), len(outcomes)))
    for place, subject in enumerate(subjects):
        mine = [row for row in rows_of(rows, "match") if row["asked"] == subject]
        # Shares have no unit, and the squares of tiny weights must not vanish.
        scale = max((row["weight"] for row in mine), default=1.0) or 1.0
        told, untold = [_Sums() for _ in outcomes], _Sums()
        for row in mine:
            weight = row["weight"] / scale if counted == "weights" or exact else 1.0
            is_told = row["subject"] is not None and row["outcome"] is not None
            (told[outcomes.index(row["outcome"])] if is_told else untold).add(row["count"], weight)
        account = answered.get(subject, {})
        remaining = float(account.get("remaining_mass", 0.0)) / scale if exact else 0.0
        of_all = _Sums(*(sum(column) for column in zip(*(part.columns for part in told), strict=True)))
        for outcome, part in zip(outcomes, told, strict=True):
            share = _exact_share(part, of_all, remaining) if exact else share_of_sums(part.sums, of_all.sums)
            shares.append(OutcomeShare(subject, outcome, share, int(part.draws)))
        weights[place] = [part.weight for part in told]
        squares[place] = [part.squares for part in told]
        found = of_all.weight + untold.weight
        effective = of_all.weight**2 / of_all.squares if of_all.squares else 0.0
        accounts.append(
            SubjectAccount(
                subject,
                draws=0 if exact else int(account.get("samples", of_all.draws + untold.draws)),
                failed=int(account.get("failed", 0)),
                effective_samples=None if exact else effective,
                ambiguous=untold.weight / found if found else 0.0,
                open_share=remaining / (found + remaining) if found + remaining else 0.0,
                forwards=int(account.get("forwards", 0)),
                seconds=float(account.get("seconds_total", 0.0)),
                ended=str(account.get("ended", "")),
            )
        )
    if exact:
        differences = tuple(_differences(subjects, outcomes, shares, None))
        strength = Estimate.exact(cramers_v_of_shares(weights))
        return VariantFindings(
            unit, head["label"], True, False, done, subjects, outcomes, tuple(shares), tuple(accounts), differences,
            strength,
        )  # fmt: skip
    counts = effective_counts(weights, squares)
    differences = tuple(_differences(subjects, outcomes, shares, counts))
    tests = [chi_squared(counts), g_test(counts)]
    if len(subjects) == 2:
        first, second = ([float(share.count) for share in shares if share.subject == subject] for subject in subjects)
        tests.append(paper_test(first, second))
    return VariantFindings(
        unit,
        head["label"],
        False,
        bool(head["edited"]),
        done,
        subjects,
        outcomes,
        tuple(shares),
        tuple(accounts),
        differences,
        cramers_v(counts, seed=seed),
        tuple(tests),
        tuple(residuals(counts)),
    )


@dataclass
class _Sums:
    draws: float = 0.0
    weight: float = 0.0
    squares: float = 0.0

    def add(self, count: int, weight: float) -> None:
        self.draws += count
        self.weight += count * weight
        self.squares += count * weight**2

    @property
    def columns(self) -> tuple[float, float, float]:
        return self.draws, self.weight, self.squares

    @property
    def sums(self) -> WeightSums:
        return WeightSums(*self.columns)


def _exact_share(part: _Sums, whole: _Sums, remaining: float) -> Estimate:
    """A share that is known up to what was not gone through, all of which may belong to it or none."""
    if not whole.weight:
        return Estimate(0.0, 0.0, 1.0)
    value, most = min(1.0, part.weight / whole.weight), whole.weight + remaining
    return Estimate(value, min(value, part.weight / most), min(1.0, max(value, (part.weight + remaining) / most)))


def _differences(
    subjects: Sequence[str],
    outcomes: Sequence[str],
    shares: Sequence[OutcomeShare],
    counts: npt.NDArray[np.float64] | None,
) -> Iterable[ShareDifference]:
    """All of them. counts: of a sample, effective; None of an exact distribution."""
    found = {(share.subject, share.outcome): share.share for share in shares}
    corrected = {} if counts is None else _corrected(counts)
    for one, other in combinations(range(len(subjects)), 2):
        for place, outcome in enumerate(outcomes):
            first, second = found[subjects[one], outcome], found[subjects[other], outcome]
            value = difference(first, second)
            if counts is None:  # bounds, not intervals: both may be at their worst
                value = Estimate(value.value, first.low - second.high, first.high - second.low)
            yield ShareDifference(subjects[one], subjects[other], outcome, value, corrected.get((one, other, place)))


def _corrected(counts: npt.NDArray[np.float64]) -> dict[tuple[int, int, int], float]:
    """The corrected p-value (log10) of each outcome in the table of each two subjects, where enough are expected."""
    cells = {
        (one, other, cell.outcome): cell
        for one, other in combinations(range(len(counts)), 2)
        for cell in residuals(counts[[one, other]])
        if cell.group == 0 and counts[[one, other], cell.outcome].any()
    }
    corrected = holm([cell.log10_p for cell in cells.values()])
    found = {}
    for (one, other, outcome), value in zip(cells, corrected, strict=True):
        pair = counts[[one, other]]
        if pair[:, outcome].sum() / pair.sum() * pair.sum(axis=1).min() >= FEWEST_EXPECTED:
            found[one, other, outcome] = value
    return found


def _compare(first: VariantFindings, second: VariantFindings) -> Comparison:
    distances, log10_p, swapped, top = {}, {}, {}, {}
    for subject in first.subjects:
        before, after = first.values(subject), second.values(subject)
        distances[subject] = total_variation(before, after)
        log10_p[subject] = _same(first, second, subject)
        swapped[subject] = sum(
            (before[one] - before[other]) * (after[one] - after[other]) < 0.0
            for one, other in combinations(range(len(before)), 2)
        )
        top[subject] = tuple(first.outcomes[int(np.argmax(values))] for values in (before, after))
    changes = tuple(
        SignChange(one.subject, one.other, one.outcome, one.value, another.value, one.is_certain and another.is_certain)
        for one, another in zip(first.differences, second.differences, strict=True)
        if one.value.value * another.value.value < 0.0
    )
    return Comparison(first.unit, second.unit, distances, log10_p, swapped, top, changes)


def _same(first: VariantFindings, second: VariantFindings, subject: str) -> float | None:
    """log10 of the p-value of a test whether two variants are the same for a subject; None of two facts."""
    counts = [
        np.asarray(variant.values(subject)) * (account.effective_samples or 0.0)
        for variant in (first, second)
        for account in variant.accounts
        if account.subject == subject
    ]
    if first.exact and second.exact:
        return None
    if not first.exact and not second.exact:
        return chi_squared(np.stack(counts)).log10_p
    known, drawn = (first, counts[1]) if first.exact else (second, counts[0])
    # What was too rare to be gone through is pooled with what is rare, rather than called impossible.
    fit = goodness_of_fit(np.rint(drawn).astype(np.int64), np.maximum(known.values(subject), 1e-12))
    return log10_chi_squared_tail(fit.statistic, fit.degrees_of_freedom) if fit.degrees_of_freedom else 0.0


def _prefix_curves(rows: Sequence[Mapping[str, Any]]) -> Iterable[PositionCurve]:
    """Figure 9 for drawn prefixes: one curve for each way to draw them."""
    for way, of_way in groupby(
        sorted(rows, key=lambda row: str(row["drawn_by"])), key=lambda row: str(row["drawn_by"])
    ):
        counts: dict[int, int] = {row["position"]: row["count"] for row in of_way}
        yield _curve(way, counts)


def _match_curve(name: str, matches: Sequence[Mapping[str, Any]]) -> PositionCurve:
    """Figure 9 for whole strings as they were drawn: in the prefix by the walk, behind it by the model."""
    counts: dict[int, int] = defaultdict(int)
    for match in matches:
        for edit in match["edits"]:
            counts[edit["position"]] += match["count"]
    return _curve(name, counts)


def _curve(name: str, counts: Mapping[int, int]) -> PositionCurve:
    positions = sorted(counts)
    total = sum(counts.values())
    sums = np.cumsum([counts[position] for position in positions]) / max(1, total)
    return PositionCurve(name, tuple(positions), tuple(sums.tolist()), total)
