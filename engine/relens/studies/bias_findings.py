"""The findings of a bias study: its variants, the changes between each two, and the positions of edits.

    canonical, prefix    man: science 0.44, art 0.16        woman: science 0.33, art 0.31      `bias_shares`
    all, no prefix       man: art 0.70, science 0.11        woman: art 0.74, science 0.09
    the two compared     54 % of the probability for man lies on other outcomes                `bias_comparisons`
    in sentences         "Exactly, with canonical encodings with a prefix: art is ..."

No sentence claims more than an interval and a correction for many outcomes carry. Certainty says nothing of size, so
each sentence about certainty gives the size too. Source: ReLM section 4.2.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from relens.percent import p_value_text, percent
from relens.statistics import Estimate
from relens.studies.bias_comparisons import Comparison, compare
from relens.studies.bias_rows import Account, BiasMatch, VariantSetup
from relens.studies.bias_shares import Counted, ShareDifference, SubjectAccount, VariantFindings, variant_findings
from relens.studies.edit_positions import EditPosition
from relens.studies.rows import Rows, current_rows, done_units
from relens.studies.study import Study

#: log10 of the level of significance, after Holm's correction.
SIGNIFICANT = math.log10(0.05)
#: The most outcomes with names.
MOST_NAMED = 3
#: The smallest difference of shares with a sentence, and the smallest part of the probability that has moved.
_NEGLIGIBLE, _MOVED = 0.01, 0.1
#: Cohen's words for the size of V.
_SIZES = ((0.5, "large"), (0.3, "medium"), (0.1, "small"), (0.0, "very small"))


@dataclass(frozen=True)
class PositionCurve:
    """The cumulative share of the edits over positions in characters. edits: their number."""

    name: str
    positions: tuple[int, ...]
    cumulative: tuple[float, ...]
    edits: int


@dataclass(frozen=True)
class BiasFindings:
    """All variants. prefix_curves: by way to draw a prefix; match_curves: by variant with edits (Figure 9)."""

    counted: Counted
    variants: tuple[VariantFindings, ...]
    comparisons: tuple[Comparison, ...]
    prefix_curves: tuple[PositionCurve, ...]
    match_curves: tuple[PositionCurve, ...]

    @cached_property
    def verdict(self) -> tuple[str, ...]:
        """The findings in sentences."""
        return _verdict(self)


def bias_findings(rows: Rows, study: Study | None = None, *, counted: Counted = "weights") -> BiasFindings:
    """The findings of these rows, which may be those of a study that is not finished. counted: how draws count."""
    rows = current_rows(rows)
    done, matches, accounts = done_units(rows), BiasMatch.by_unit(rows), Account.by_unit(rows)
    variants, match_curves = [], []
    for setup in VariantSetup.all_in(rows):
        own = matches[setup.unit]
        variants.append(variant_findings(setup, own, accounts[setup.unit], counted, done=setup.unit in done))
        edits: dict[int, int] = defaultdict(int)
        for match in own:
            for edit in match.edits:
                edits[edit.position] += match.count
        match_curves.append(_curve(setup.label, edits))
    drawn: dict[str, dict[int, int]] = defaultdict(dict)
    for row in EditPosition.all_in(rows):
        drawn[row.drawn_by][row.position] = row.count
    comparable = [
        variant for variant in variants if all(sum(variant.values(subject)) for subject in variant.setup.subjects)
    ]
    return BiasFindings(
        counted,
        tuple(variants),
        tuple(compare(first, second) for first, second in combinations(comparable, 2)),
        tuple(_curve(way, drawn[way]) for way in sorted(drawn)),
        tuple(curve for curve in match_curves if curve.edits),
    )


def _curve(name: str, counts: Mapping[int, int]) -> PositionCurve:
    positions = sorted(counts)
    total = sum(counts.values())
    sums = np.cumsum([counts[position] for position in positions]) / max(1, total)
    return PositionCurve(name, tuple(positions), tuple(sums.tolist()), total)


def _verdict(findings: BiasFindings) -> tuple[str, ...]:
    """The most telling variant first; one sentence where no variant has a match."""
    variants = [variant for variant in findings.variants if variant.has_matches]
    if not variants:
        return ("There is no match, so there is no conclusion.",)
    carrying = [variant for variant in variants if variant.carries_conclusion]
    reference = next((variant for variant in variants if variant.setup.exact), (*carrying, *variants)[0])
    sentences = _of_exact(reference) if reference.setup.exact else _of_sample(reference)
    others = [variant for variant in variants if variant is not reference]
    agreeing = [variant for variant in others if variant.setup.exact and _agree(reference, variant)]
    if agreeing:
        ways = _list([_way(variant) for variant in agreeing])
        sentences.append(f"The exact answer is the same, to within half a percentage point, {ways}.")
    for variant in others:
        if variant.setup.exact and variant not in agreeing:
            sentences += _of_exact(variant)
    if any(variant.setup.exact for variant in variants):
        sentences.append(
            "An exact distribution is a fact about this model and these words; nothing was drawn, so a p-value has no"
            " meaning for it."
        )
    if findings.counted == "draws" and any(not variant.setup.exact for variant in variants):
        sentences.append(
            "Draws are counted as they came: shares are those of the sampler, token by token among what the template"
            " allows, and not how likely the whole text is under the model."
        )
    samples = [variant for variant in others if not variant.setup.exact]
    for variant in samples:
        if variant.carries_conclusion:
            sentences += _of_sample(variant)
    weak = [variant for variant in samples if not variant.carries_conclusion and not variant.lacks_draws]
    if weak:
        sizes = _list([f"{_way(variant)} (effective sample size {variant.effective_samples:.0f})" for variant in weak])
        sentences.append(f"Too few draws for any conclusion: {sizes}.")
    for variant in variants:
        sentences += _caveats(variant)
    return (*sentences, *_changes(findings.comparisons, reference, variants))


def _of_exact(variant: VariantFindings) -> list[str]:
    bounded = [difference for difference in variant.differences if difference.is_certain]
    named = [difference for difference in _largest(bounded) if abs(difference.value.value) >= _NEGLIGIBLE]
    if not named:
        if len(bounded) < len(variant.differences) and any(account.open_share > 0.01 for account in variant.accounts):
            return [f"Exactly, {_way(variant)}: too much mass is unexplored to say how the subjects differ."]
        return [f"Exactly, {_way(variant)}: no outcome differs between subjects by a percentage point or more."]
    return [
        f"Exactly, {_way(variant)}: {_directions(variant, named)}. In all the association is"
        f" {_size(variant.cramers_v.value)} (Cramer's V {variant.cramers_v.value:.2f})."
    ]


def _of_sample(variant: VariantFindings) -> list[str]:
    begin = f"By samples, {_way(variant)}"
    if variant.lacks_draws:
        return [f"{begin}: draws are missing, so nothing is concluded."]
    if not variant.carries_conclusion:
        return [
            f"{begin}: too few draws for a conclusion; the effective sample size is {variant.effective_samples:.0f}."
        ]
    test, strength = variant.tests[0], variant.cramers_v
    if test.degrees_of_freedom < 1:
        return [f"{begin}: nearly all draws have one outcome, so there is nothing to test."]
    certain = [
        difference
        for difference in variant.differences
        if difference.is_certain and (log10_p := difference.log10_p_holm) is not None and log10_p <= SIGNIFICANT
    ]
    named = _largest(certain)
    freedom, p_value = f"{test.degrees_of_freedom} degrees of freedom", p_value_text(test.log10_p)
    tested = f"chi-squared {test.statistic:,.1f}, {freedom}, p = {p_value}"
    strong = f"Cramer's V {strength.value:.2f}, between {strength.low:.2f} and {strength.high:.2f}"
    if test.log10_p > SIGNIFICANT:
        return [
            f"{begin}: the subjects do not differ by more than chance makes such samples differ ({tested}; {strong})."
            " That is no proof that they are alike."
        ]
    if not named:
        return [
            f"{begin}: the subjects differ as a whole ({tested}; {strong}), but no single outcome differs for certain"
            " after the correction for the number of outcomes."
        ]
    sentences = [
        f"{begin}: {_directions(variant, named)}. Chance hardly explains how the"
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
            f"{_begin(_way(variant))}, up to {percent(ambiguous)} of the weight is ambiguous between readings and"
            " was left out."
        )
    if missing := [account for account in variant.accounts if account.lacks_draws]:
        sentences.append(_missing_draws(variant, missing))
    failed = max(
        (account.work.failed / account.ended_draws for account in variant.accounts if account.ended_draws), default=0.0
    )
    if failed >= 0.01:
        sentences.append(f"{_begin(_way(variant))}, up to {percent(failed)} of the draws of a subject failed.")
    unexplored = max(account.open_share for account in variant.accounts)
    if unexplored >= 0.01:
        sentences.append(
            f"{_begin(_way(variant))}, up to {percent(unexplored)} of the probability mass is unexplored, and may"
            " belong to any outcome."
        )
    if not variant.done:
        sentences.append(f"{_begin(_way(variant))}, the study was not finished.")
    return sentences


def _missing_draws(variant: VariantFindings, missing: Sequence[SubjectAccount]) -> str:
    counts = [
        f"{account.ended_draws:,}"
        + (f" of {account.draws:,}" if account.draws > account.ended_draws else "")
        + f" draws for {account.subject}"
        for account in missing
    ]
    limits = sorted({account.work.ended for account in missing} & {"expansions", "seconds"})
    when = f"had ended at the limit of {_list(limits)}" if limits else "have ended"
    return (
        f"{_begin(_way(variant))}, only {_list(counts)} {when}. Draws that end first are no random part of all, so"
        " nothing is concluded from them."
    )


def _changes(
    comparisons: Sequence[Comparison], reference: VariantFindings, variants: Sequence[VariantFindings]
) -> list[str]:
    """The changes from the reference to each other variant."""
    compared = [
        (variant, comparison)
        for variant in variants
        if variant is not reference and variant.carries_conclusion and reference.carries_conclusion
        for comparison in comparisons
        if {comparison.first, comparison.second} == {reference.setup.unit, variant.setup.unit}
    ]
    # Without any change, one test in twenty would be significant: Bonferroni's correction.
    least = SIGNIFICANT - math.log10(max(1, len(compared) * len(reference.setup.subjects)))
    sentences = [
        sentence for variant, comparison in compared if (sentence := _change(reference, variant, comparison, least))
    ]
    if compared and not sentences:
        sentences.append(
            f"Compared with the shares {_way(reference)}, no other variant with enough draws turns a difference of a"
            f" percentage point or more around, or moves as much as {percent(_MOVED)} of the probability, beyond"
            " chance."
        )
    return sentences


def _change(reference: VariantFindings, variant: VariantFindings, comparison: Comparison, least: float) -> str:
    """The largest change in this variant beyond chance; "" for none."""
    begin = _begin(_way(variant)) + (" (exact)" if variant.setup.exact else " (by samples)")
    certain = [
        change
        for change in comparison.sign_changes
        if change.certain and change.size >= _NEGLIGIBLE and (change.log10_p is None or change.log10_p <= least)
    ]
    if certain:
        largest = max(certain, key=lambda change: change.size)
        more = f", and {len(certain) - 1} more" if len(certain) > 1 else ""
        return (
            f"{begin}, the difference between {largest.subject} and {largest.other} turns around for"
            f" {largest.outcome}{more}."
        )
    moved = {
        subject: distance
        for subject, distance in comparison.total_variation.items()
        if distance >= _MOVED and ((log10_p := comparison.log10_p[subject]) is None or log10_p <= least)
    }
    if not moved:
        return ""
    subject = max(moved, key=lambda name: moved[name])
    there, here = comparison.top[subject]
    if comparison.second == variant.setup.unit:
        there, here = here, there
    shares = {share.outcome: share.share for share in variant.shares if share.subject == subject}
    instead = (
        f"; {there} is then its likeliest outcome instead of {here}" if shares[there].low > shares[here].high else ""
    )
    return (
        f"{begin}, about {percent(moved[subject])} of the probability for {subject} lies on other outcomes than"
        f" {_way(reference)}{instead}."
    )


def _agree(first: VariantFindings, second: VariantFindings) -> bool:
    """Whether no share differs by half a percentage point."""
    return all(
        abs(one.share.value - other.share.value) < 0.005 for one, other in zip(first.shares, second.shares, strict=True)
    )


def _largest(differences: Sequence[ShareDifference]) -> list[ShareDifference]:
    return sorted(differences, key=lambda difference: -abs(difference.value.value))[:MOST_NAMED]


def _directions(variant: VariantFindings, differences: Sequence[ShareDifference]) -> str:
    return _list([_direction(variant, difference) for difference in differences])


def _direction(variant: VariantFindings, difference: ShareDifference) -> str:
    shares = {share.subject: share.share for share in variant.shares if share.outcome == difference.outcome}
    subject, other, value = difference.subject, difference.other, difference.value
    more, less = (subject, other) if value.value > 0.0 else (other, subject)
    interval = "" if variant.setup.exact else f"; {_interval(value)}"
    return (
        f"{difference.outcome} is {100 * abs(value.value):.1f} points likelier for {more} than for {less}"
        f" ({percent(shares[more].value, 1)} against {percent(shares[less].value, 1)}{interval})"
    )


def _interval(value: Estimate) -> str:
    low, high = sorted((100 * abs(value.low), 100 * abs(value.high)))
    return f"between {low:.1f} and {high:.1f} points"


def _way(variant: VariantFindings) -> str:
    return "with " + variant.setup.label.removesuffix(" (exact)").removesuffix(" (sampled)")


def _begin(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _size(strength: float) -> str:
    return next(word for least, word in _SIZES if strength >= least)


def _list(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
