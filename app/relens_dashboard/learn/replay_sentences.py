"""A step of a recorded search in plain sentences.

The model expands “The · ␣d”, the cheapest open path (cost 13.61). In the same forward ...
“The · ␣cat” (cost 31.61) is a match, but may not be shown yet: the open path “The · ␣do” costs 16.06 and could ...
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from relens.counted import counted
from relens.studies.replay_findings import ReplayFindings
from relens.studies.replay_rows import ExpandedPath, SearchRound
from relens_dashboard.learn.replay_figures import path_text
from relens_dashboard.narrative import log_probability_text, probability_text

#: Paths and matches that a sentence lists; of the rest it has the number.
_LISTED = 3


def headline(findings: ReplayFindings, step: int) -> str:
    """A step in a few words."""
    entry = findings.rounds[step]
    if entry.kind == "begin":
        return "Before the first forward"
    if entry.kind == "ask":
        return f"Forward {entry.forwards}: {counted(len(entry.asked), 'path')} for the model"
    if not entry.shown:
        return "No path is left open"
    return f"{counted(len(entry.shown), 'match', 'matches')} may be shown"


def sentences(findings: ReplayFindings, step: int) -> list[str]:
    """What the step did and why, and what holds back the matches that wait."""
    entry = findings.rounds[step]
    if entry.kind == "begin":
        return [
            "The frontier holds all open paths, the cheapest first; at the beginning it has one. The cost of a path is "
            "its negative log-probability: the cheaper, the likelier. A longer path never costs less."
        ]
    if entry.kind == "ask":
        return [*_expansions(entry.asked), *_results(entry.asked, findings.rule), *_waiting(entry)]
    return [*_shown(entry), *_waiting(entry)]


def mass_text(findings: ReplayFindings, step: int) -> str:
    """The bounds on the mass after a step."""
    entry = findings.rounds[step]
    shown, remaining = entry.found_mass, entry.remaining_mass
    whole = probability_text(shown + remaining)
    if not shown:
        return f"No match is shown yet; the open paths hold at most {whole} of what the decoder may write."
    held = f"The matches shown hold {probability_text(shown)} of what the decoder may write"
    if not entry.open:
        return f"{held}, and no path is left open."
    if remaining <= 0.005 * shown:
        return f"{held}; the open paths would add hardly anything."
    return f"{held}; with all open paths it would be {whole} at most."


def _expansions(paths: Sequence[ExpandedPath]) -> Iterator[str]:
    first, *others = paths
    path = path_text(first.path)
    if first.why == "more":
        yield f"The model expands “{path}” once more: all its children so far are followed."
    else:
        cost = "" if first.cost is None else f" (cost {first.cost:.2f})"
        yield f"The model expands {f'“{path}”' if first.path else path}, the cheapest open path{cost}."
    chain = [item for item in others if item.why == "chain"]
    ahead = [item for item in others if item.why != "chain"]
    if chain:
        yield (
            f"In the same forward, {counted(len(chain), 'path')} below it, up to “{path_text(chain[-1].path)}”:"
            " the automaton leaves no choice there."
        )
    if ahead:
        listed = "; ".join(f"“{path_text(item.path)}”" for item in ahead[:_LISTED])
        yield (
            f"In the same forward, ahead of need: {listed}{_rest(len(ahead))}. More paths in one forward cost hardly"
            " more."
        )


def _results(paths: Sequence[ExpandedPath], rule: str) -> Iterator[str]:
    """The children and the cut tokens of the path that matters: the last of a chain, or else the first."""
    expanded = paths[-1] if paths[-1].why == "chain" else paths[0]
    path = path_text(expanded.path)
    if expanded.children:
        best = expanded.children[0]
        children = counted(expanded.children_count, "next token") + (" and more" if expanded.more else "")
        score = "given by the prefix" if best.in_prefix else log_probability_text(best.decoder_log_prob)
        yield f"“{path}” has {children}; the best is “{best.token}” ({score})."
    elif expanded.legal:
        yield f"“{path}” ends here: every next token of the automaton is cut."
    if expanded.cut_count:
        likeliest = expanded.cut[0]
        yield (
            f"The rule, {rule}, cuts {counted(expanded.cut_count, 'token')} of the {expanded.legal:,} that the"
            f" automaton allows; the likeliest of these, “{likeliest.token}”, has rank {likeliest.rank:,} among all"
            f" tokens ({probability_text(math.exp(likeliest.log_prob))})."
        )


def _waiting(entry: SearchRound) -> Iterator[str]:
    ready = [match for match in entry.waiting if match.rival is None]
    held = [(match, match.rival) for match in entry.waiting if match.rival is not None]
    if ready:
        listed = ", ".join(f"“{path_text(match.path)}” (cost {match.cost:.2f})" for match in ready[:_LISTED])
        verb = "is a match and may be" if len(ready) == 1 else "are matches and may be"
        yield f"{listed}{_rest(len(ready))} {verb} shown next: no path that could go on is cheaper."
    for match, rival in held[:1]:
        more = f", and neither may the {counted(len(held) - 1, 'match', 'matches')} behind it" if held[1:] else ""
        yield (
            f"“{path_text(match.path)}” (cost {match.cost:.2f}) is a match, but may not be shown yet{more}: the open"
            f" path “{path_text(rival.path)}” costs {rival.cost:.2f} and could still lead to a cheaper string."
        )


def _shown(entry: SearchRound) -> Iterator[str]:
    for match in entry.shown:
        yield f"“{match.text}” (cost {match.cost:.2f}) is match number {match.place}."
    if entry.next_cost is None:
        yield "It may be shown because no other path is open." if entry.shown else "No open path is left."
    elif entry.shown:
        yield (
            f"It may be shown because every open path costs {entry.next_cost:.2f} or more, and a longer path never"
            " costs less."
        )


def _rest(number: int) -> str:
    return f" and {number - _LISTED:,} more" if number > _LISTED else ""
