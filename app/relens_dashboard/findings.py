"""Findings of a sample or a distribution, as sentences.

    given man, outcome is art in 41 %, science in 20 % and medicine in 12 %; 7 more share the rest.
    About 1.4 % (1.2 % to 1.6 %) of what this decoder writes here is a match.
    The 9,870 draws that are matches have an effective sample size of about 830, because their weights differ.

A number here is exact, or an estimate with its 95 % interval. The bounds of a best-first search are in
`relens_dashboard.narrative.mass_sentence`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from relens.counted import counted
from relens.runs.records import RunRecord
from relens.statistics import Estimate, effective_sample_size, weighted_mass
from relens.traversal.summaries import noncanonical_share
from relens_dashboard.narrative import interval_text, probability_text

_MOST_VALUES = 3
_MOST_SERIES = 4

#: Weights are called unequal where the effective sample size is less than this part of the draws.
_UNEQUAL = 0.9
#: Below this part, the sentence advises a distribution or canonical encodings.
_FEW = 0.1


def share_sentences(table: pd.DataFrame, values: Sequence[str], given: Sequence[str] = ()) -> list[str]:
    """The largest shares of a table of groups: one sentence, or one for each combination of the `given` columns."""
    if not len(table):
        return []
    what = " and ".join(values)
    if not given:
        return [f"{what} is {_shares_text(table, values)}."]
    series = table.groupby(list(given), sort=False)
    sentences = [
        f"Given {' and '.join(key)}, {what} is {_shares_text(rows, values)}."
        for key, rows in itertools.islice(series, _MOST_SERIES)
    ]
    rest = series.ngroups - len(sentences)
    if rest:
        sentences.append(f"The table has {rest:,} more of {' and '.join(given)}.")
    return sentences


def _shares_text(rows: pd.DataFrame, values: Sequence[str]) -> str:
    ordered = rows.sort_values("Share", ascending=False, kind="stable")
    top = ordered.head(_MOST_VALUES)
    parts = [
        f"{' and '.join(names)} in {_with_interval(share, low, high)}"
        for names, share, low, high in zip(
            top[list(values)].itertuples(index=False), top["Share"], top["low"], top["high"], strict=True
        )
    ]
    rest = len(rows) - len(parts)
    if rest:
        # No "and" before the last: more values follow.
        return f"{', '.join(parts)}; {counted(rest, 'other value shares', 'other values share')} the rest"
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def spelling_sentence(rows: Sequence[Mapping[str, Any]], draws: int | None) -> str:
    """The share of the mass found that is not in the tokenizer's own tokens."""
    if not rows:
        return ""
    other = noncanonical_share(rows, draws)
    if other.high <= 0.0:
        return "All matches are spelled in the tokenizer's own tokens."
    return f"{_estimated(other)} of this mass is spelled in other tokens than the tokenizer's own."


def sample_mass(rows: Sequence[Mapping[str, Any]], draws: int) -> Estimate | None:
    """The probability that the decoder writes a match, estimated from the weights; None without a draw."""
    if draws <= 0:
        return None
    return weighted_mass([row["weight"] for row in rows], [row["count"] for row in rows], draws)


def sample_mass_sentence(mass: Estimate) -> str:
    """`sample_mass` in words."""
    return f"About {_estimated(mass)} of what this decoder writes here is a match."


def effective_sample_size_sentence(rows: Sequence[Mapping[str, Any]]) -> str:
    """The effective sample size of the weighted draws; an empty string without a match."""
    matches = sum(row["count"] for row in rows)
    if not matches:
        return ""
    size = effective_sample_size([row["weight"] for row in rows], [row["count"] for row in rows])
    draws = counted(matches, "draw that is a match has", "draws that are matches have")
    if size >= _UNEQUAL * matches:
        return f"The {draws} nearly equal weights; the effective sample size is as large."
    advice = " A distribution, or canonical encodings alone, would be more precise." if size < _FEW * matches else ""
    return (
        f"The {draws} an effective sample size of about {size:,.0f} independent draws, because their weights "
        f"differ.{advice}"
    )


def incomplete_sentence(run: RunRecord) -> str:
    """The bias of a sample that was cut short; an empty string for any other."""
    count = int(run.specification.get("traversal", {}).get("count", 0))
    ended = int(run.progress.get("samples", 0))
    if run.is_live or ended >= count:
        return ""
    return f"Only {ended:,} of {count:,} draws have ended, and short strings end first: these shares favour them."


def settled_sentence(rows: Sequence[Mapping[str, Any]], *, end_of_text: bool) -> str:
    """How many matches count only with an end after them; an empty string for none, or where the query demands it."""
    settled = sum(bool(row.get("ended")) for row in rows)
    if end_of_text or not settled:
        return ""
    which = "Every match can" if settled == len(rows) else f"{settled:,} of the {len(rows):,} matches can"
    rest = "" if settled == len(rows) else " Must end here, under More, requires this of all."
    return f"{which} be continued to a longer match, and so counts only where the model ends its text there.{rest}"


def failed_sentence(progress: Mapping[str, Any]) -> str:
    """How many draws failed; an empty string where none did."""
    failed = int(progress.get("failed", 0))
    if not failed:
        return ""
    return (
        f"{counted(failed, 'draw')} failed: the decoding rule or the longest match left no way on. A failed draw "
        "counts as no match."
    )


def precision_sentence(progress: Mapping[str, Any]) -> str:
    """The largest error of a distribution's shares, from the unexplored mass."""
    found_mass, open_mass = float(progress.get("found_mass", 0.0)), float(progress.get("remaining_mass", 1.0))
    if found_mass <= 0.0:
        return ""
    # The unexplored mass may all belong to one string, or to none of those found.
    most = open_mass / (found_mass + open_mass)
    if most < 1e-9:
        return "No mass is unexplored: these shares are exact."
    return f"Unexplored mass can change a share of all matches by at most {probability_text(most)}."


def _with_interval(value: float, low: float, high: float) -> str:
    """A probability, with its interval unless that is no wider than the rounding."""
    if probability_text(low) == probability_text(high):
        return probability_text(value)
    return f"{probability_text(value)} ({interval_text(low, high)})"


def _estimated(estimate: Estimate) -> str:
    return _with_interval(estimate.value, estimate.low, estimate.high)
