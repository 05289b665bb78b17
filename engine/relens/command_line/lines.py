"""Printed lines for people: one line a match, a table of shares, a summary at the end.

     P(pattern)     log P   decoder   prefix|pattern   (~ not the canonical encoding)
         0.0312    -3.466    -2.197   The |dig  {animal=dog}  (substitution at 5: 'o' -> 'i')

A model may write any character, so all text goes through `printable`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from relens.query import Distribution, Sampling, Traversal
from relens.runs.export import edit_text

if TYPE_CHECKING:
    from relens.command_line.shares import Shares
    from relens.statistics import Estimate
    from relens.traversal.results import Match, Progress
    from relens.traversal.summaries import GroupResult, StringResult


def printable(text: str) -> str:
    """`text` on one line; control characters, which a terminal would obey, as escapes."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def heading(traversal: Traversal) -> str:
    """The names of the columns of `match_line`."""
    drawn = f"{'draws':>6} {'weight':>9} " if isinstance(traversal, Sampling) else ""
    return f"{drawn}{'P(pattern)':>10} {'log P':>9} {'decoder':>9}   prefix|pattern   (~ not the canonical encoding)"


def match_line(match: Match, traversal: Traversal) -> str:
    """One match: probability of the pattern given the prefix, its log, the log under the decoding rule, the string.

    A line of a sample begins with the number of draws and the weight of each. Named groups and edits come last; a group
    of unknown value is a question mark.
    """
    drawn = f"{match.count:>6} {match.weight:>9.3g} " if isinstance(traversal, Sampling) else ""
    mark = " " if match.is_canonical else "~"
    pattern_text = match.text[len(match.prefix_text) :]
    return (
        f"{drawn}{math.exp(match.log_prob):>10.3g} {match.log_prob:>9.3f} {match.decoder_log_prob:>9.3f} {mark}"
        f" {printable(match.prefix_text)}|{printable(pattern_text)}{_remarks(match)}"
    )


def _remarks(match: Match) -> str:
    groups = ", ".join(f"{name}={_value(value)}" for name, value in match.groups.items())
    edits = "; ".join(edit_text(edit.to_json()) for edit in match.edits)
    return (f"  {{{groups}}}" if groups else "") + (f"  ({printable(edits)})" if edits else "")


def _value(value: str | None) -> str:
    return "?" if value is None else printable(value)


def share_lines(shares: Shares) -> list[str]:
    """The table of shares with its heading; no lines without --by."""
    if not shares.by:
        return []
    given = f"   given {', '.join(shares.given)}" if shares.given else ""
    interval = f" {'low':>9} {'high':>9} {'draws':>6}" if shares.draws is not None else ""
    lines = [f"{'share':>10}{interval}   {', '.join(shares.by)}{given}"]
    for result in shares.results:
        bounds = (
            f" {_figure(result.low):>9} {_figure(result.high):>9} {result.count:>6}" if shares.draws is not None else ""
        )
        lines.append(f"{result.share:>10.3g}{bounds}   {_name_of(result)}")
    return lines


def summary(progress: Progress, traversal: Traversal, shares: Shares | None = None) -> str:
    """Matches, work, end and mass of the search in a few sentences."""
    matches = f"{progress.matches} matches"
    if isinstance(traversal, Sampling):
        failed = f" ({progress.failed} failed)" if progress.failed else ""
        matches = f"{progress.samples} of {traversal.count} draws{failed}, {progress.matches} of them distinct,"
    elif isinstance(traversal, Distribution) and progress.prefixes > 1:
        matches = f"{progress.matches} matches after {progress.prefixes} prefix strings"
    work = (
        f"{matches} in {progress.seconds_total:.1f} s ({progress.seconds_model:.1f} s in the model,"
        f" {progress.forwards} forwards, {progress.tokens_computed} tokens); {_ENDS.get(progress.ended, 'unfinished')}."
    )
    return " ".join([work, *_mass(progress, traversal, shares), *_composition(shares)])


_ENDS = {
    "exhausted": "the language is exhausted",
    "matches": "the requested number of matches is reached",
    "expansions": "the limit of expansions is reached",
    "seconds": "the time limit is reached",
    "stopped": "stopped",
    "tolerance": "the unexplored mass is within the tolerance",
    "drawn": "all draws are made",
}


def _mass(progress: Progress, traversal: Traversal, shares: Shares | None) -> list[str]:
    """The probability of a match: bounds, or for a sample an estimate."""
    event = "The prefix and then a match comes" if progress.mass_is_joint else "The output begins with a match"
    if isinstance(traversal, Sampling):
        mass = shares.mass if shares is not None else None
        return [f"{event} with probability {_estimate(mass)}."] if mass is not None else []
    certain = progress.found_mass + progress.remaining_mass
    return [f"{event} with probability {progress.found_mass:.3g} to {certain:.3g}."]


def _composition(shares: Shares | None) -> list[str]:
    sentences = []
    if shares is not None and shares.effective_samples is not None:
        sentences.append(f"The effective sample size is {shares.effective_samples:.0f}.")
    if shares is not None and shares.noncanonical.value > 0.0:
        share = _estimate(shares.noncanonical)
        sentences.append(f"Non-canonical encodings make up {share} of the matches.")
    return sentences


def _estimate(estimate: Estimate) -> str:
    if estimate.low == estimate.high:
        return _figure(estimate.value)
    return f"{_figure(estimate.value)} ({_figure(estimate.low)} to {_figure(estimate.high)})"


def _figure(value: float) -> str:
    # The smallest float stands for a bound just above 0.
    return "0" if value < 1e-300 else f"{value:.3g}"


def _name_of(result: StringResult | GroupResult) -> str:
    """The string, split after its prefix, or the values of the groups."""
    # Imported late: it loads scipy, and every refused query would wait half a second for that.
    from relens.traversal.summaries import StringResult

    if isinstance(result, StringResult):
        return f"{printable(result.prefix_text)}|{printable(result.text[len(result.prefix_text) :])}"
    return ", ".join(f"{name}={_value(value)}" for name, value in result.values.items())
