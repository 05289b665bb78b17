"""The findings of a bias study in plain words: direction, size, certainty, and what the numbers do not carry.

    "Exactly, with canonical encodings with a prefix: art is 15.0 points likelier for woman than for man (31.0 % against
    16.0 %)."
    "This is a fact about this model and these words; nothing was drawn, so a p-value has no meaning here."

No sentence claims what an interval or a correction for many outcomes does not carry. That a difference is certain says
nothing of its size, so each sentence about certainty has the size beside it. Source: ReLM section 4.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.statistics import Estimate
from engine.studies.bias_findings import BiasFindings, Comparison, ShareDifference, VariantFindings

#: Certain is what chance would make less often than this, after Holm's correction.
SIGNIFICANT = math.log10(0.05)
#: Fewer effective draws of a subject carry no conclusion; and that many outcomes are named at most.
FEWEST_EFFECTIVE, MOST_NAMED = 30.0, 3
#: Cohen's words for the size of V (of two groups), and differences of shares too small to speak of.
_SIZES, _NEGLIGIBLE = ((0.5, "large"), (0.3, "medium"), (0.1, "small"), (0.0, "very small")), 0.01


def bias_verdict(findings: BiasFindings) -> list[str]:
    """The findings as sentences, the most telling variant first; one sentence where there is nothing to tell."""
    variants = [variant for variant in findings.variants if variant.accounts and any(s.count for s in variant.shares)]
    if not variants:
        return ["Nothing was found, so nothing can be said."]
    reference = next((variant for variant in variants if variant.exact), variants[0])
    sentences: list[str] = []
    if findings.counted == "draws" and any(not variant.exact for variant in variants):
        sentences.append(
            "Draws are counted as they came: this tells what the sampler draws, token by token among what the template"
            " allows, and not how likely the model finds the whole text."
        )
    for variant in [reference, *(variant for variant in variants if variant is not reference)]:
        sentences += _of_exact(variant) if variant.exact else _of_sample(variant)
        sentences += _caveats(variant)
    return sentences + _changes(findings, reference, variants)


def _of_exact(variant: VariantFindings) -> list[str]:
    bounded = [found for found in variant.differences if found.is_certain]
    named = [found for found in _largest(bounded) if abs(found.value.value) >= _NEGLIGIBLE]
    if not named:
        if len(bounded) < len(variant.differences) and any(account.open_share > 0.01 for account in variant.accounts):
            return [f"Exactly, {_way(variant)}: too much was left unexplored to tell how the subjects differ."]
        return [f"Exactly, {_way(variant)}: no outcome differs between subjects by a percentage point or more."]
    return [
        f"Exactly, {_way(variant)}: {_list([_direction(variant, found) for found in named])}. In all the association is"
        f" {_size(variant.cramers_v.value)} (Cramer's V {variant.cramers_v.value:.2f}).",
        "This is a fact about this model and these words; nothing was drawn, so a p-value has no meaning here.",
    ]


def _of_sample(variant: VariantFindings) -> list[str]:
    effective = min(account.effective_samples or 0.0 for account in variant.accounts)
    draws = max(account.draws for account in variant.accounts)
    begin = f"By samples, {_way(variant)}"
    if effective < FEWEST_EFFECTIVE:
        return [
            f"{begin}: {draws:,} draws a subject are worth only {effective:.0f} of equal weight, too few for any"
            " conclusion."
        ]
    test, strength = variant.tests[0], variant.cramers_v
    if test.degrees_of_freedom < 1:
        return [f"{begin}: nearly everything drawn was one outcome, so there is nothing to test."]
    certain = [found for found in variant.differences if found.is_certain and _stands_out(variant, found)]
    named = _largest(certain)
    tested = (
        f"chi-squared {test.statistic:,.1f}, {test.degrees_of_freedom} degrees of freedom, p {_power(test.log10_p)}"
    )
    strong = f"Cramer's V {strength.value:.2f}, between {strength.low:.2f} and {strength.high:.2f}"
    if test.log10_p > SIGNIFICANT:
        return [
            f"{begin}: the subjects do not differ by more than chance makes such samples differ ({tested}; {strong})."
            " That is no proof that they are treated alike."
        ]
    if not named:
        return [
            f"{begin}: the subjects differ as a whole ({tested}; {strong}), but no single outcome does for certain once"
            " it is considered how many were looked at."
        ]
    sentences = [
        f"{begin}: {_list([_direction(variant, found) for found in named])}. Chance hardly explains how the"
        f" subjects differ ({tested}); the association is {_size(strength.value)} ({strong})."
    ]
    if strength.low <= 0.0:
        sentences.append(f"How large the association is {_way(variant)} remains open: its interval reaches zero.")
    return sentences


def _caveats(variant: VariantFindings) -> list[str]:
    sentences = []
    ambiguous = max(account.ambiguous for account in variant.accounts)
    if ambiguous >= 0.005:
        sentences.append(
            f"{_begin(_way(variant))}, up to {ambiguous:.0%} of what was found is as near to one reading as to another"
            " and was left out."
        )
    failed = max((account.failed / account.draws for account in variant.accounts if account.draws), default=0.0)
    if failed >= 0.01:
        sentences.append(f"{_begin(_way(variant))}, up to {failed:.0%} of the draws of a subject led nowhere.")
    unfinished = max(account.open_share for account in variant.accounts)
    if unfinished >= 0.01:
        sentences.append(
            f"{_begin(_way(variant))}, up to {unfinished:.0%} of the probability was not gone through; the shares are"
            " bounds."
        )
    if not variant.done:
        sentences.append(f"{_begin(_way(variant))}, the study was not finished.")
    return sentences


def _changes(findings: BiasFindings, reference: VariantFindings, variants: Sequence[VariantFindings]) -> list[str]:
    """What is otherwise than in the reference."""
    by_unit = {variant.unit: variant for variant in variants}
    sentences = []
    compared = 0
    for comparison in findings.comparisons:
        if reference.unit not in (comparison.first, comparison.second):
            continue
        unit = comparison.second if comparison.first == reference.unit else comparison.first
        variant = by_unit.get(unit)
        if variant is None or not _carries(variant):
            continue
        compared += 1
        certain = [change for change in comparison.sign_changes if change.certain]
        largest = max(certain, key=lambda change: min(abs(change.first.value), abs(change.second.value)), default=None)
        if largest is not None:
            more = f", and {len(certain) - 1} more" if len(certain) > 1 else ""
            sentences.append(
                f"{_begin(_way(variant))}, the difference turns around for {largest.outcome} between {largest.subject}"
                f" and {largest.other}{more}."
            )
        elif (moved := max(comparison.total_variation.values())) >= 0.1:
            sentences.append(
                f"{_begin(_way(variant))}, up to {moved:.0%} of the probability lies on other outcomes than"
                f" {_way(reference)}{_top(comparison, reference)}."
            )
    if compared and not sentences:
        sentences.append(
            f"Compared with the answer {_way(reference)}, no other variant with enough draws changes a direction for"
            " certain or moves as much as a tenth of the probability."
        )
    return sentences


def _carries(variant: VariantFindings) -> bool:
    """Whether a conclusion can be drawn from it at all."""
    return variant.exact or min(account.effective_samples or 0.0 for account in variant.accounts) >= FEWEST_EFFECTIVE


def _top(comparison: Comparison, reference: VariantFindings) -> str:
    for subject in reference.subjects:
        here, there = comparison.top[subject]
        if comparison.first != reference.unit:
            here, there = there, here
        if here != there:
            return f": for {subject}, {there} is then the likeliest instead of {here}"
    return ""


def _stands_out(variant: VariantFindings, found: ShareDifference) -> bool:
    """Whether a residual of this outcome, of one of the two subjects, is certain after Holm's correction."""
    places = variant.subjects.index(found.subject), variant.subjects.index(found.other)
    outcome = variant.outcomes.index(found.outcome)
    return any(
        cell.outcome == outcome and cell.group in places and cell.log10_p_holm <= SIGNIFICANT and not cell.small
        for cell in variant.residuals
    )


def _largest(differences: Sequence[ShareDifference]) -> list[ShareDifference]:
    return sorted(differences, key=lambda found: -abs(found.value.value))[:MOST_NAMED]


def _direction(variant: VariantFindings, found: ShareDifference) -> str:
    shares = {share.subject: share.share for share in variant.shares if share.outcome == found.outcome}
    more, less = (found.subject, found.other) if found.value.value > 0.0 else (found.other, found.subject)
    interval = "" if variant.exact else f"; {_interval(found.value)}"
    return (
        f"{found.outcome} is {100 * abs(found.value.value):.1f} points likelier for {more} than for {less}"
        f" ({100 * shares[more].value:.1f} % against {100 * shares[less].value:.1f} %{interval})"
    )


def _interval(value: Estimate) -> str:
    low, high = sorted((100 * abs(value.low), 100 * abs(value.high)))
    return f"between {low:.1f} and {high:.1f} points"


def _way(variant: VariantFindings) -> str:
    return "with " + variant.label.removesuffix(" (exact)").removesuffix(" (sampled)")


def _begin(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _size(strength: float) -> str:
    return next(word for least, word in _SIZES if strength >= least)


def _power(log10_p: float) -> str:
    """A p-value for people, however small: "= 0.03", "= 10^-1000"."""
    return f"= {10**log10_p:.2g}" if log10_p > -4.0 else f"= 10^{log10_p:.0f}"


def _list(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
