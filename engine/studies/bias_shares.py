"""What the rows of one variant of a bias study say: its shares, how certain they are, and what its subjects differ in.

    rows of "canonical, prefix, no edit, sampled"            man     woman    woman - man
      {"asked": "man", "outcome": "art", "count": 812,  art   0.16    0.31     0.15 (0.13 to 0.17)
       "weight": 0.013, ...}                       science   0.44    0.33    -0.11 ...

There are two ways to count draws, and they answer different questions:

    "weights"   each draw by its weight: the model's own P(outcome | subject), an estimate with as many effective draws
                as the weights leave (where they differ much, few of thousands)
    "draws"     each draw as one, which is the paper's way: what this sampler draws, token by token among the legal ones

The statistics of a sample are those of effective counts (`engine.association.effective_counts`): each subject's shares
times the effective number of its draws, by Kish's formula. An exact distribution needs none: what differs in it does.
What could not be told, because edits made it ambiguous, is left out of the shares, and its own share is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
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
    paper_test,
    residuals,
)
from engine.record import Record
from engine.statistics import FEWEST_EXPECTED, Estimate, WeightSums, share_of_sums
from engine.studies.rows import rows_of

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

    draws: that were wanted, 0 of an exact distribution; ended_draws: those that have ended; failed: those among them
    after which nothing could follow. effective_samples: how many of equal weight would say as much, None where exact.
    ambiguous: the share of the weight of what could not be told. open_share: of an exact distribution, the largest
    share of all that is still unexplored. ended: why the answer ended, "drawn" for a whole sample, "" so far.
    """

    subject: str
    draws: int
    ended_draws: int
    failed: int
    effective_samples: float | None
    ambiguous: float
    open_share: float
    forwards: int
    seconds: float
    ended: str

    @property
    def lacks_draws(self) -> bool:
        """Whether draws are missing. Those that end first are no random part of all: the sampler works depth first."""
        return self.effective_samples is not None and self.ended != "drawn"


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


def variant_findings(
    unit: str, rows: Sequence[Mapping[str, Any]], counted: Counted, *, done: bool, seed: int
) -> VariantFindings:
    """The findings of one unit. rows: its own, a "variant" among them. seed: of the bootstrap."""
    head = rows_of(rows, "variant")[0]
    subjects, outcomes, exact = tuple(head["subjects"]), tuple(head["outcomes"]), bool(head["exact"])
    answered = {row["asked"]: row for row in rows_of(rows, "account")}
    shares: list[OutcomeShare] = []
    accounts: list[SubjectAccount] = []
    weights, squares = np.zeros((2, len(subjects), len(outcomes)))
    for place, subject in enumerate(subjects):
        drawn = _Drawn.of([row for row in rows_of(rows, "match") if row["asked"] == subject], outcomes, exact, counted)
        account = answered.get(subject, {})
        # As long as nothing is told of what remains, it may be everything.
        remaining = float(account.get("remaining_mass", 1.0)) / drawn.scale if exact else 0.0
        whole = drawn.whole
        for outcome, part in zip(outcomes, drawn.told, strict=True):
            share = _exact_share(part, whole, remaining) if exact else share_of_sums(part.sums, whole.sums)
            shares.append(OutcomeShare(subject, outcome, share, int(part.draws)))
        weights[place] = [part.weight for part in drawn.told]
        squares[place] = [part.squares for part in drawn.told]
        accounts.append(_account(subject, drawn, {**head, **account}, remaining))
    findings = VariantFindings(
        unit,
        head["label"],
        exact,
        bool(head["edited"]),
        done,
        subjects,
        outcomes,
        tuple(shares),
        tuple(accounts),
        tuple(_differences(subjects, outcomes, shares, None if exact else effective_counts(weights, squares))),
        Estimate.exact(cramers_v_of_shares(weights)),
    )
    return findings if exact else _tested(findings, effective_counts(weights, squares), seed)


def _tested(findings: VariantFindings, counts: npt.NDArray[np.float64], seed: int) -> VariantFindings:
    """The findings of a sample with their statistics. counts: effective."""
    tests = [chi_squared(counts), g_test(counts)]
    if len(findings.subjects) == 2:
        first, second = (
            [float(share.count) for share in findings.shares if share.subject == subject]
            for subject in findings.subjects
        )
        tests.append(paper_test(first, second))
    return replace(
        findings, cramers_v=cramers_v(counts, seed=seed), tests=tuple(tests), residuals=tuple(residuals(counts))
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


@dataclass
class _Drawn:
    """What was found for one subject. told: by outcome; untold: what was ambiguous; scale: the unit of weights."""

    told: list[_Sums]
    untold: _Sums = field(default_factory=_Sums)
    scale: float = 1.0

    @classmethod
    def of(cls, matches: Sequence[Mapping[str, Any]], outcomes: Sequence[str], exact: bool, counted: Counted) -> _Drawn:
        # Shares have no unit, and the squares of tiny weights must not vanish.
        scale = max((float(row["weight"]) for row in matches), default=1.0) or 1.0
        drawn = cls([_Sums() for _ in outcomes], scale=scale)
        for row in matches:
            is_told = row["subject"] is not None and row["outcome"] is not None
            part = drawn.told[outcomes.index(row["outcome"])] if is_told else drawn.untold
            part.add(row["count"], row["weight"] / scale if counted == "weights" or exact else 1.0)
        return drawn

    @property
    def whole(self) -> _Sums:
        """All that could be told."""
        return _Sums(*(sum(column) for column in zip(*(part.columns for part in self.told), strict=True)))


def _account(subject: str, drawn: _Drawn, told: Mapping[str, Any], remaining: float) -> SubjectAccount:
    """told: by the rows, of the variant and of this subject."""
    whole, untold, exact = drawn.whole, drawn.untold, bool(told["exact"])
    failed = int(told.get("failed", 0))
    ended_draws = 0 if exact else int(whole.draws + untold.draws) + failed
    found = whole.weight + untold.weight
    effective = whole.weight**2 / whole.squares if whole.squares else 0.0
    return SubjectAccount(
        subject,
        # Rows of before do not tell how many were wanted.
        draws=0 if exact else int(told.get("draws", ended_draws)),
        ended_draws=ended_draws,
        failed=failed,
        effective_samples=None if exact else effective,
        ambiguous=untold.weight / found if found else 0.0,
        open_share=remaining / (found + remaining) if found + remaining else 0.0,
        forwards=int(told.get("forwards", 0)),
        seconds=float(told.get("seconds_total", 0.0)),
        ended=str(told.get("ended", "")),
    )


def _exact_share(part: _Sums, whole: _Sums, remaining: float) -> Estimate:
    """A share that is known up to the unexplored mass, all of which may belong to it or none."""
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
