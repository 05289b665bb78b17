"""The change of shares between two variants of a bias study.

    canonical, prefix    man: science 0.44, art 0.16        woman: science 0.33, art 0.31
    all, no prefix       man: art 0.70, science 0.11        woman: art 0.74, science 0.09

In both, art is likelier for the woman. But the likeliest outcome has changed, and more than half of the probability has
moved. A test says whether such a change is more than chance; between two exact distributions it is a fact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relens.association import chi_squared, log10_chi_squared_tail, total_variation
from relens.statistics import Estimate, goodness_of_fit
from relens.studies.bias_shares import ShareDifference, VariantFindings


@dataclass(frozen=True)
class SignChange:
    """A difference between subjects with opposite signs in two variants.

    certain: neither interval holds zero, and each sample could be tested. log10_p: of the less certain sample,
    corrected within its variant; None without a sample, or where one could not be tested.
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
        """The smaller of the two differences, as a share."""
        return min(abs(self.first.value), abs(self.second.value))


@dataclass(frozen=True)
class Comparison:
    """Two variants, by the keys of their units.

    By subject: total_variation of its two distributions (0 to 1, in samples never quite 0); log10_p: of a test whether
    they are the same, None where both are exact; top: the likeliest outcome in each.
    """

    first: str
    second: str
    total_variation: dict[str, float]
    log10_p: dict[str, float | None]
    top: dict[str, tuple[str, ...]]
    sign_changes: tuple[SignChange, ...]


def compare(first: VariantFindings, second: VariantFindings) -> Comparison:
    """The comparison of two variants in which each subject has matches."""
    distances, log10_p, top = {}, {}, {}
    for subject in first.setup.subjects:
        before, after = first.values(subject), second.values(subject)
        distances[subject] = total_variation(before, after)
        log10_p[subject] = _same(first, second, subject)
        top[subject] = tuple(first.setup.outcomes[int(np.argmax(values))] for values in (before, after))
    changes = tuple(
        _sign_change((first, one), (second, another))
        for one, another in zip(first.differences, second.differences, strict=True)
        if one.value.value * another.value.value < 0.0
    )
    return Comparison(first.setup.unit, second.setup.unit, distances, log10_p, top, changes)


def _sign_change(*sides: tuple[VariantFindings, ShareDifference]) -> SignChange:
    (_, one), (_, another) = sides
    drawn = [difference.log10_p_holm for variant, difference in sides if not variant.setup.exact]
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
    """log10 of the p-value of a test whether two variants are the same for a subject; None of two exact ones."""
    if first.setup.exact and second.setup.exact:
        return None
    counts = [
        np.asarray(variant.values(subject)) * (account.effective_samples or 0.0)
        for variant in (first, second)
        for account in variant.accounts
        if account.subject == subject
    ]
    if not first.setup.exact and not second.setup.exact:
        return chi_squared(np.stack(counts)).log10_p
    known, drawn = (first, counts[1]) if first.setup.exact else (second, counts[0])
    # Outcomes too rare to be explored are pooled with rare ones, rather than called impossible.
    fit = goodness_of_fit(np.rint(drawn).astype(np.int64), np.maximum(known.values(subject), 1e-12))
    return log10_chi_squared_tail(fit.statistic, fit.degrees_of_freedom) if fit.degrees_of_freedom else 0.0
