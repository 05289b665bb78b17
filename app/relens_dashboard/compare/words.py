"""A comparison in sentences: circumstances, overlap, shares.

    Models of one name had different weights, settings or tokens; fingerprints: A 4f3a, B 77c1.
    20 strings are in both, 3 in A alone and 5 in B alone.
    A and B differ by more than chance explains: p = 10^-12 (chi-squared 61.2, 3 degrees of freedom).

Runs are A, B, C, ... in the order of the address. A sentence never claims more than its number; where no test was made,
it gives the reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from relens.counted import counted
from relens.percent import p_value_text
from relens.runs.agreement import Overlap
from relens.runs.comparison import Circumstances
from relens.runs.records import RunRecord
from relens.runs.share_tests import Difference, Refusal, SharesOfRun
from relens_dashboard.narrative import probability_text

#: A p-value below this is called a difference.
SIGNIFICANT = 0.01
_SMALL, _LARGE = 0.1, 0.3

_REFUSALS = {
    Refusal.NO_SHARES: "{pair}: no test, since a best-first search has the likeliest strings and no shares.",
    Refusal.EXACT: "Both are exact, so chance has no part in the difference, and no test is needed.",
    Refusal.MIXED: "No test, since one is a sample and the other exact. Sample both, or compute both distributions.",
    Refusal.FEW: "No test, since the effective sample size of one is too small; draw more, or use canonical encodings.",
    Refusal.NOTHING: "{pair}: no test, since there are no two outcomes.",
}


def letter(place: int) -> str:
    """The name of the run at this place: A, B, C, ..."""
    return chr(ord("A") + place)


def listed(places: Sequence[int]) -> str:
    """The names of several runs: "A", "A and C", "A, B and C"."""
    letters = [letter(place) for place in places]
    return letters[0] if len(letters) == 1 else f"{', '.join(letters[:-1])} and {letters[-1]}"


def circumstance_sentences(runs: Sequence[RunRecord], circumstances: Circumstances) -> list[str]:
    """Differences that matter to every comparison: models, weights, versions, unfinished and imported runs."""
    sentences = []
    if not circumstances.models:
        names = ", ".join(f"{letter(place)} {run.model}" for place, run in enumerate(runs))
        sentences.append(f"Different models: {names}.")
    if not circumstances.fingerprints:
        names = ", ".join(
            f"{letter(place)} {run.model_fingerprint or 'not recorded'}" for place, run in enumerate(runs)
        )
        sentences.append(
            f"Models of the same name had different weights, settings or tokens; fingerprints: {names}. Differences "
            "below may come from that."
        )
    for name in circumstances.versions:
        names = ", ".join(f"{letter(place)} {run.versions.get(name, 'not recorded')}" for place, run in enumerate(runs))
        sentences.append(f"Different versions of {name}: {names}.")
    if unfinished := circumstances.unfinished:
        verb, results = ("is", "its results are") if len(unfinished) == 1 else ("are", "their results are")
        sentences.append(f"{listed(unfinished)} {verb} not done, so {results} only a part.")
    if imported := circumstances.imported:
        verb = "was" if len(imported) == 1 else "were"
        sentences.append(f"{listed(imported)} {verb} imported from another installation.")
    return sentences


def overlap_sentence(overlap: Overlap, first: int, second: int) -> str:
    """The number of strings in both searches, and in each alone."""
    shared = counted(overlap.shared, "string is", "strings are")
    return (
        f"{shared} in both, {overlap.first_only:,} in {letter(first)} alone and {overlap.second_only:,} in "
        f"{letter(second)} alone."
    )


def share_sentences(difference: Difference, runs: Sequence[SharesOfRun], *, same_seed: bool, tested: int) -> list[str]:
    """The difference of one run from the first. tested: how many tests p is corrected for.

    same_seed: whether one model drew both samples with one seed; then they are not independent.
    """
    pair = f"{letter(0)} and {letter(difference.place)}"
    sentences = []
    if difference.test is not None and difference.log10_p_holm is not None:
        if not difference.test.degrees_of_freedom:
            sentences.append(f"{pair}: no test, since nearly all draws of both have one outcome.")
        else:
            differ = difference.log10_p_holm <= math.log10(SIGNIFICANT)
            verdict = "differ by more than chance explains" if differ else "do not differ by more than chance explains"
            corrected = f", corrected for {tested} tests" if tested > 1 else ""
            degrees = counted(difference.test.degrees_of_freedom, "degree")
            sentences.append(
                f"{pair} {verdict}: p = {p_value_text(difference.log10_p_holm)}{corrected} (chi-squared "
                f"{difference.test.statistic:,.1f}, {degrees} of freedom)."
            )
        if same_seed:
            sentences.append(
                "Both were drawn with the same seed, so their draws are not independent, as the test assumes; repeat "
                "one with another seed."
            )
        effective = [run.effective for run in (runs[0], runs[difference.place])]
        draws = [run.draws for run in (runs[0], runs[difference.place])]
        if any(size is not None and size < 0.9 * drawn for size, drawn in zip(effective, draws, strict=True)):
            sizes = " and ".join(
                f"{size or 0.0:,.0f} of {drawn:,}" for size, drawn in zip(effective, draws, strict=True)
            )
            sentences.append(f"Weights of draws differ; the test uses their effective sample sizes, {sizes}.")
    if difference.refusal is not None:
        sentences.append(_REFUSALS[difference.refusal].format(pair=pair))
    if difference.distance is not None:
        noise = " In samples, chance adds to it." if difference.refusal is not Refusal.EXACT else ""
        sentences.append(
            f"Between {pair}, {probability_text(difference.distance)} of all probability lies elsewhere (total "
            f"variation distance: the largest difference of any set of outcomes).{noise}"
        )
    if difference.strength is not None:
        strength = difference.strength
        size = "small" if strength.value < _SMALL else "large" if strength.value >= _LARGE else "middling"
        interval = f", {strength.low:.2f} to {strength.high:.2f}" if strength.high > strength.low else ""
        sentences.append(
            f"That is a {size} difference (Cramér's V {strength.value:.2f}{interval}; 0 none, 1 complete)."
        )
    return sentences
