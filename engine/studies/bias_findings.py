"""What the rows of a bias study say: each variant by itself, what changes between two of them, and where edits fall.

    canonical, prefix    man: science 0.44, art 0.16        woman: science 0.33, art 0.31
    all, no prefix       man: art 0.70, science 0.11        woman: art 0.74, science 0.09

Both say that art is likelier for the woman, but what is likeliest has changed, and more than half of the probability
has moved. Whether such a change is more than chance is tested; of two exact distributions it is a fact.

Everything here comes from the rows alone, of as many units as there are. What one variant says: `bias_shares`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Any

import numpy as np

from engine.association import chi_squared, log10_chi_squared_tail, total_variation
from engine.record import Record
from engine.statistics import Estimate, goodness_of_fit
from engine.studies.bias_shares import Counted, ShareDifference, VariantFindings, variant_findings
from engine.studies.rows import ROW, UNIT, done_units, rows_of

Rows = Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class SignChange(Record):
    """A difference that has one sign in one variant and the other in another.

    certain: neither interval holds zero, and each that was drawn could be tested. log10_p: of the less certain of those
    that were drawn, as corrected within its variant; None where none was, or one could not be tested.
    """

    subject: str
    other: str
    outcome: str
    first: Estimate
    second: Estimate
    certain: bool
    log10_p: float | None = None

    @property
    def size(self) -> float:
        """How large it is where it is smaller, as a share."""
        return min(abs(self.first.value), abs(self.second.value))


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
        if row[ROW] == "variant":  # a unit that was cut short begins again with it
            by_unit[str(row[UNIT])].clear()
        by_unit[str(row[UNIT])].append(row)
    variants, match_curves = [], []
    for unit, of_unit in by_unit.items():
        if of_unit[0][ROW] == "variant":
            variants.append(variant_findings(unit, of_unit, counted, done=unit in done, seed=seed))
            if variants[-1].edited:
                match_curves.append(_match_curve(variants[-1].label, rows_of(of_unit, "match")))
    usable = [variant for variant in variants if all(sum(variant.values(subject)) for subject in variant.subjects)]
    return BiasFindings(
        counted,
        tuple(variants),
        tuple(_compare(first, second) for first, second in combinations(usable, 2)),
        tuple(_prefix_curves(rows_of(table, "position"))),
        tuple(curve for curve in match_curves if curve.edits),
    )


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
        _sign_change((first, one), (second, another))
        for one, another in zip(first.differences, second.differences, strict=True)
        if one.value.value * another.value.value < 0.0
    )
    return Comparison(first.unit, second.unit, distances, log10_p, swapped, top, changes)


def _sign_change(*sides: tuple[VariantFindings, ShareDifference]) -> SignChange:
    (_, one), (_, another) = sides
    drawn = [difference.log10_p_holm for variant, difference in sides if not variant.exact]
    tested = [log10_p for log10_p in drawn if log10_p is not None]
    return SignChange(
        one.subject,
        one.other,
        one.outcome,
        one.value,
        another.value,
        certain=one.is_certain and another.is_certain and len(tested) == len(drawn),
        log10_p=max(tested) if tested and len(tested) == len(drawn) else None,
    )


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
