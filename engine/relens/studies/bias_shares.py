"""One variant of a bias study: its shares, their certainty, and the differences between subjects.

    rows of "canonical, prefix, no edit, sampled"            man     woman    woman - man
      {"asked": "man", "outcome": "art", "count": 812,  art   0.16    0.31     0.15 (0.13 to 0.17)
       "weight": 0.013, ...}                       science   0.44    0.33    -0.11 ...

Draws count in one of two ways:

    "weights"   each draw by its weight: the model's own P(outcome | subject), an estimate with as many effective draws
                as the weights leave (where they differ much, few of thousands)
    "draws"     each draw as one, as in the paper: the distribution of this sampler, token by token among the legal ones

The statistics of a sample are those of effective counts (`relens.association.effective_counts`): each subject's shares
times its effective sample size, by Kish's formula. An exact distribution needs no test. Ambiguous matches, which edits
make as near to one reading as to another, are left out of the shares, and their own share is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt

from relens.association import (
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
from relens.statistics import FEWEST_EXPECTED, Estimate, WeightSums, share_of_sums
from relens.studies.bias_rows import Account, BiasMatch, VariantSetup

Counted = Literal["weights", "draws"]

#: Fewer effective draws of a subject carry no conclusion: where weights differ so much, the likeliest text may not have
#: been drawn yet, and no interval knows of it.
FEWEST_EFFECTIVE = 80.0


@dataclass(frozen=True)
class OutcomeShare:
    """P(outcome | subject) without ambiguous matches, and the number of its draws."""

    subject: str
    outcome: str
    share: Estimate
    count: int


@dataclass(frozen=True)
class ShareDifference:
    """P(outcome | subject) - P(outcome | other).

    log10_p_holm: of the residual of this outcome in the table of these two subjects, corrected for all outcomes and
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
class SubjectAccount:
    """The sample or the distribution of one subject. work: its row, of zeros before there is one.

    draws: the size of the sample, 0 of an exact distribution. ended_draws: those so far, failed ones included.
    effective_samples: draws of equal weight that say as much, None where exact. ambiguous: the share of ambiguous
    matches in the weight. open_share: the unexplored share of an exact distribution at most.
    """

    work: Account
    draws: int
    ended_draws: int
    effective_samples: float | None
    ambiguous: float
    open_share: float

    @property
    def subject(self) -> str:
        """The subject of the query."""
        return self.work.asked

    @property
    def lacks_draws(self) -> bool:
        """Whether draws are missing. Those that end first are no random part of all: the sampler works depth first."""
        return self.effective_samples is not None and self.work.ended != "drawn"


@dataclass(frozen=True)
class VariantFindings:
    """One variant: its table and its statistics.

    done: whether all its rows are there. tests: chi-squared and G of effective counts, and of two subjects the paper's
    test, which takes the draws of the second as expected for the first. Without tests and residuals where exact, and
    cramers_v then without an interval.
    """

    setup: VariantSetup
    done: bool
    shares: tuple[OutcomeShare, ...]
    accounts: tuple[SubjectAccount, ...]
    differences: tuple[ShareDifference, ...]
    cramers_v: Estimate
    tests: tuple[AssociationTest, ...] = ()
    residuals: tuple[Residual, ...] = ()

    def values(self, subject: str) -> list[float]:
        """The shares of one subject, in the order of the outcomes."""
        return [share.share.value for share in self.shares if share.subject == subject]

    @property
    def has_matches(self) -> bool:
        """Whether any outcome has a draw."""
        return any(share.count for share in self.shares)

    @property
    def lacks_draws(self) -> bool:
        """Whether draws of some subject are missing."""
        return any(account.lacks_draws for account in self.accounts)

    @property
    def effective_samples(self) -> float:
        """The smallest effective sample size of a subject."""
        return min(account.effective_samples or 0.0 for account in self.accounts)

    @property
    def carries_conclusion(self) -> bool:
        """Whether it is exact, or has enough effective draws and all draws of its sample."""
        return self.setup.exact or (not self.lacks_draws and self.effective_samples >= FEWEST_EFFECTIVE)


def variant_findings(
    setup: VariantSetup, matches: Sequence[BiasMatch], accounts: Sequence[Account], counted: Counted, *, done: bool
) -> VariantFindings:
    """The findings of one variant, from the rows of its unit."""
    works = {account.asked: account for account in accounts}
    by_weight = setup.exact or counted == "weights"
    shares: list[OutcomeShare] = []
    subjects: list[SubjectAccount] = []
    sums: list[_MatchSums] = []
    for subject in setup.subjects:
        own = _MatchSums.of([match for match in matches if match.asked == subject], setup.outcomes, by_weight)
        # Without an account, all of the mass is unexplored.
        work = works.get(subject, Account(subject))
        remaining = work.remaining_mass / own.scale if setup.exact else 0.0
        sums.append(own)
        subjects.append(_account(setup, work, own, remaining))
        for outcome, part in zip(setup.outcomes, own.parts, strict=True):
            share = _exact_share(part, own.whole, remaining) if setup.exact else share_of_sums(part, own.whole)
            shares.append(OutcomeShare(subject, outcome, share, int(part.draws)))
    weights = np.array([[part.weight for part in own.parts] for own in sums])
    squares = np.array([[part.squares for part in own.parts] for own in sums])
    counts = None if setup.exact else effective_counts(weights, squares)
    findings = VariantFindings(
        setup,
        done,
        tuple(shares),
        tuple(subjects),
        tuple(_differences(setup, shares, counts)),
        Estimate.exact(cramers_v_of_shares(weights)),
    )
    return findings if counts is None else _tested(findings, counts)


def _tested(findings: VariantFindings, counts: npt.NDArray[np.float64]) -> VariantFindings:
    """The findings of a sample with their statistics. counts: effective."""
    tests = [chi_squared(counts), g_test(counts)]
    if len(findings.setup.subjects) == 2:
        first, second = (
            [float(share.count) for share in findings.shares if share.subject == subject]
            for subject in findings.setup.subjects
        )
        tests.append(paper_test(first, second))
    return replace(findings, cramers_v=cramers_v(counts), tests=tuple(tests), residuals=tuple(residuals(counts)))


@dataclass(frozen=True)
class _MatchSums:
    """Sums over the matches for one subject. parts: by outcome; ambiguous: apart. scale: the unit of the weights."""

    parts: list[WeightSums]
    ambiguous: WeightSums
    scale: float

    @classmethod
    def of(cls, matches: Sequence[BiasMatch], outcomes: Sequence[str], by_weight: bool) -> _MatchSums:
        # Shares have no unit, and the squares of tiny weights must not vanish.
        scale = max((match.weight for match in matches), default=1.0) or 1.0
        places = [
            len(outcomes) if match.subject is None or match.outcome is None else outcomes.index(match.outcome)
            for match in matches
        ]
        counts = np.array([match.count for match in matches], np.float64)
        weights = np.array([match.weight / scale if by_weight else 1.0 for match in matches], np.float64)
        sums = np.zeros((len(outcomes) + 1, 3))
        np.add.at(sums, np.array(places, np.intp), np.stack([counts, counts * weights, counts * weights**2], axis=1))
        *parts, ambiguous = (WeightSums(*row) for row in sums.tolist())
        return cls(parts, ambiguous, scale)

    @property
    def whole(self) -> WeightSums:
        """All but the ambiguous."""
        return WeightSums(*(sum(column) for column in zip(*self.parts, strict=True)))


def _account(setup: VariantSetup, work: Account, sums: _MatchSums, remaining: float) -> SubjectAccount:
    whole, ambiguous = sums.whole, sums.ambiguous
    ended_draws = 0 if setup.exact else int(whole.draws + ambiguous.draws) + work.failed
    explored = whole.weight + ambiguous.weight
    effective = whole.weight**2 / whole.squares if whole.squares else 0.0
    return SubjectAccount(
        work,
        # Old rows lack the size of the sample.
        draws=ended_draws if setup.draws is None else setup.draws,
        ended_draws=ended_draws,
        effective_samples=None if setup.exact else effective,
        ambiguous=ambiguous.weight / explored if explored else 0.0,
        open_share=remaining / (explored + remaining) if explored + remaining else 0.0,
    )


def _exact_share(part: WeightSums, whole: WeightSums, remaining: float) -> Estimate:
    """A share that is known up to the unexplored mass, all of which may belong to it or none."""
    if not whole.weight:
        return Estimate(0.0, 0.0, 1.0)
    value, most = min(1.0, part.weight / whole.weight), whole.weight + remaining
    return Estimate(value, min(value, part.weight / most), min(1.0, max(value, (part.weight + remaining) / most)))


def _differences(
    setup: VariantSetup, shares: Sequence[OutcomeShare], counts: npt.NDArray[np.float64] | None
) -> Iterator[ShareDifference]:
    """All of them. counts: of a sample, effective; None of an exact distribution."""
    estimates = {(share.subject, share.outcome): share.share for share in shares}
    corrected = {} if counts is None else _corrected(counts)
    for (one, subject), (two, other) in combinations(enumerate(setup.subjects), 2):
        for place, outcome in enumerate(setup.outcomes):
            first, second = estimates[subject, outcome], estimates[other, outcome]
            value = difference(first, second)
            if counts is None:  # bounds, not intervals: both may be at their worst
                value = Estimate(value.value, first.low - second.high, first.high - second.low)
            yield ShareDifference(subject, other, outcome, value, corrected.get((one, two, place)))


def _corrected(counts: npt.NDArray[np.float64]) -> dict[tuple[int, int, int], float]:
    """The corrected p-value (log10) of each outcome in the table of each two subjects, where enough are expected."""
    cells = {
        (one, other, cell.outcome): cell
        for one, other in combinations(range(len(counts)), 2)
        for cell in residuals(counts[[one, other]])
        if cell.group == 0 and counts[[one, other], cell.outcome].any()
    }
    corrected = {}
    for (one, other, outcome), log10_p in zip(cells, holm([cell.log10_p for cell in cells.values()]), strict=True):
        pair = counts[[one, other]]
        if pair[:, outcome].sum() / pair.sum() * pair.sum(axis=1).min() >= FEWEST_EXPECTED:
            corrected[one, other, outcome] = log10_p
    return corrected
