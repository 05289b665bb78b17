"""What a comparison says, in plain sentences: circumstances, overlap, shares.

    B was answered by other weights: the model of this name has another fingerprint there.
    20 strings are in both, 3 in A alone and 5 in B alone.
    A and B differ by more than chance explains: p = 10^-12 (chi-squared 61.2, 3 degrees of freedom).

Runs are called A, B, C, ... in the order of the address. A sentence never claims more than its number: what was not
tested is said not to have been, and why.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from app.narrative import probability_text
from engine.counted import counted
from engine.runs.agreement import Overlap
from engine.runs.comparison import Circumstances
from engine.runs.records import RunRecord
from engine.runs.share_tests import Difference, Refusal, SharesOfRun

#: A p-value below this is called a difference.
SIGNIFICANT = 0.01
_SMALL, _LARGE = 0.1, 0.3

_REFUSALS = {
    Refusal.NO_SHARES: "{pair}: a best-first search finds the likeliest strings and not shares, so nothing is tested.",
    Refusal.EXACT: "Both are exact, so there is nothing to test: chance made no difference here, and this is how large "
    "it is.",
    Refusal.MIXED: "One is a sample and the other exact; they are not tested against each other. Sample both, or ask "
    "both for the distribution.",
    Refusal.FEW: "The effective sample size of one of them is too small for a test; draw more, or use "
    "canonical encodings.",
    Refusal.NOTHING: "{pair}: there are no two outcomes to compare.",
}


def letter(place: int) -> str:
    """What the run at this place is called: A, B, C, ..."""
    return chr(ord("A") + place)


def listed(places: Sequence[int]) -> str:
    """Several of them: "A", "A and C", "A, B and C"."""
    letters = [letter(place) for place in places]
    return letters[0] if len(letters) == 1 else f"{', '.join(letters[:-1])} and {letters[-1]}"


def circumstance_sentences(runs: Sequence[RunRecord], found: Circumstances) -> list[str]:
    """What a reader has to know before comparing: other models, other weights, other versions, runs cut short."""
    sentences = []
    if not found.models:
        told = ", ".join(f"{letter(place)} {run.model}" for place, run in enumerate(runs))
        sentences.append(f"Different models were asked: {told}.")
    if not found.fingerprints:
        told = ", ".join(f"{letter(place)} {run.model_fingerprint or 'not recorded'}" for place, run in enumerate(runs))
        sentences.append(
            f"A model of the same name had different weights, settings or tokens; fingerprints: {told}. What differs "
            "below may come from that."
        )
    for name in found.versions:
        told = ", ".join(f"{letter(place)} {run.versions.get(name, 'not recorded')}" for place, run in enumerate(runs))
        sentences.append(f"Different versions of {name}: {told}.")
    if found.unfinished:
        one = len(found.unfinished) == 1
        sentences.append(
            f"{listed(found.unfinished)} {'is' if one else 'are'} not done, so what {'it' if one else 'they'} found is "
            "a part."
        )
    if found.imported:
        one = len(found.imported) == 1
        sentences.append(f"{listed(found.imported)} {'was' if one else 'were'} imported from another installation.")
    return sentences


def overlap_sentence(found: Overlap, first: int, second: int) -> str:
    """How many strings two searches share."""
    shared = counted(found.shared, "string is", "strings are")
    return (
        f"{shared} in both, {found.first_only:,} in {letter(first)} alone and {found.second_only:,} in "
        f"{letter(second)} alone."
    )


def share_sentences(found: Difference, runs: Sequence[SharesOfRun], *, same_seed: bool, tested: int) -> list[str]:
    """What is to be said of one run beside the first. tested: how many were tested, for whom p was corrected.

    same_seed: whether both samples were drawn with one seed by one model, so that they are not independent.
    """
    pair = f"{letter(0)} and {letter(found.place)}"
    sentences = []
    if found.test is not None and found.log10_p_holm is not None:
        if not found.test.degrees_of_freedom:
            sentences.append(f"{pair}: nearly every draw of both came to the same outcome, so nothing can be tested.")
        else:
            differ = found.log10_p_holm <= math.log10(SIGNIFICANT)
            verdict = "differ by more than chance explains" if differ else "do not differ by more than chance explains"
            corrected = f", corrected for {tested} tests" if tested > 1 else ""
            sentences.append(
                f"{pair} {verdict}: p {power_text(found.log10_p_holm)}{corrected} (chi-squared "
                f"{found.test.statistic:,.1f}, {counted(found.test.degrees_of_freedom, 'degree')} of freedom)."
            )
        if same_seed:
            sentences.append(
                "Both were drawn with the same seed, so their draws are not independent, which the test takes them to "
                "be; repeat one with another seed."
            )
        effective = [run.effective for run in (runs[0], runs[found.place])]
        draws = [run.draws for run in (runs[0], runs[found.place])]
        if any(size is not None and size < 0.9 * drawn for size, drawn in zip(effective, draws, strict=True)):
            sizes = " and ".join(
                f"{size or 0.0:,.0f} of {drawn:,}" for size, drawn in zip(effective, draws, strict=True)
            )
            sentences.append(f"Weights of draws differ; the test takes their effective sample sizes, {sizes}.")
    if found.refusal is not None:
        sentences.append(_REFUSALS[found.refusal].format(pair=pair))
    if found.distance is not None:
        noise = " In samples, chance adds to it." if found.refusal is not Refusal.EXACT else ""
        sentences.append(
            f"Between {pair}, {probability_text(found.distance)} of all probability lies elsewhere (total variation "
            f"distance: the most that any set of outcomes differs).{noise}"
        )
    if found.strength is not None:
        strength = found.strength
        size = "small" if strength.value < _SMALL else "large" if strength.value >= _LARGE else "middling"
        interval = f", {strength.low:.2f} to {strength.high:.2f}" if strength.high > strength.low else ""
        sentences.append(
            f"That is a {size} difference (Cramér's V {strength.value:.2f}{interval}; 0 none, 1 complete)."
        )
    return sentences


def power_text(log10_p: float) -> str:
    """A p-value given as its logarithm: "= 0.031", "= 10^-12"."""
    if log10_p == -math.inf:
        return "= 0"
    return f"= {10**log10_p:.2g}" if log10_p > -4.0 else f"= 10^{log10_p:.0f}"
