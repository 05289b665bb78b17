"""What a step of a recorded search did, in plain sentences.

    The model is asked about "The · ␣d": no open path is cheaper (cost 13.61). In the same forward ...
    "The · ␣cat" (cost 31.61) is found, but may not be shown yet: the open path "The · ␣do" costs 16.06 and could ...

Pure functions of one round of `engine.studies.replay`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from app.learn.replay_rows import Replay, path_text
from app.narrative import log_probability_text, probability_text
from engine.counted import counted
from engine.studies.replay import ASK, BEGINNING

#: Of the matches that wait, so many are explained.
_EXPLAINED = 3


def headline(replay: Replay, step: int) -> str:
    """A step in a few words."""
    entry = replay.rounds[step]
    if entry["kind"] == BEGINNING:
        return "Before anything is asked"
    if entry["kind"] == ASK:
        return f"Forward {entry['forwards']}: {counted(len(entry['asked']), 'path')} for the model"
    if not entry["shown"]:
        return "Nothing is left open"
    return f"{counted(len(entry['shown']), 'match', 'matches')} may be shown"


def sentences(replay: Replay, step: int) -> list[str]:
    """What happened, why, and what waits for what."""
    entry = replay.rounds[step]
    if entry["kind"] == BEGINNING:
        told = [
            "The frontier holds every path that is still open, the cheapest first. At first that is one alone. The "
            "cost of a path is its negative log-probability: the cheaper, the likelier, and no path gets cheaper by "
            "going on."
        ]
    elif entry["kind"] == ASK:
        told = [*_asking(entry), *_answers(entry, replay.rule), *_waiting(entry)]
    else:
        told = [*_showing(entry), *_waiting(entry)]
    return told


def mass_text(replay: Replay, step: int) -> str:
    """The bounds on the mass after a step."""
    entry = replay.rounds[step]
    found, remaining = entry["found_mass"], entry["remaining_mass"]
    whole = probability_text(found + remaining)
    if not found:
        return f"Nothing is shown yet; all that is open holds at most {whole} of what the decoder may write."
    held = f"What is shown holds {probability_text(found)} of what the decoder may write"
    if not entry["open"]:
        return f"{held}, and nothing is left to find."
    if remaining <= 0.005 * found:
        return f"{held}; all that is still open would add hardly anything."
    return f"{held}; with all that is still open it would be {whole} at most."


def _asking(entry: Mapping[str, Any]) -> Iterator[str]:
    first, *others = entry["asked"]
    path = path_text(first["path"])
    if first["why"] == "more":
        yield f"The model is asked once more about “{path}”, for further ways on: those it gave first are used up."
    else:
        cost = "" if first["cost"] is None else f" (cost {first['cost']:.2f})"
        what = f"how “{path}” goes on" if first["path"] else "what comes first"
        yield f"The model is asked {what}: that is the cheapest open path{cost}."
    chain = [item for item in others if item["why"] == "chain"]
    ahead = [item for item in others if item["why"] != "chain"]
    if chain:
        yield (
            f"In the same forward, {counted(len(chain), 'path')} below it, up to “{path_text(chain[-1]['path'])}”:"
            " the automaton leaves no choice there."
        )
    if ahead:
        listed = "; ".join(f"“{path_text(item['path'])}”" for item in ahead[:_EXPLAINED])
        rest = f" and {len(ahead) - _EXPLAINED:,} more" if len(ahead) > _EXPLAINED else ""
        yield f"In the same forward, ahead of need: {listed}{rest}. More paths in one forward cost hardly more."


def _answers(entry: Mapping[str, Any], rule: str) -> Iterator[str]:
    for asked in entry["asked"][-1:] if entry["asked"][-1]["why"] == "chain" else entry["asked"][:1]:
        path = path_text(asked["path"])
        if asked["children"]:
            best = asked["children"][0]
            more = f"{counted(asked['children_count'], 'way')}{' and more' if asked['more'] else ''}"
            given = "given by the prefix" if best["in_prefix"] else log_probability_text(best["decoder_log_prob"])
            yield f"“{path}” can go on in {more}; the best is “{best['token']}” ({given})."
        elif asked["legal"]:
            yield f"“{path}” ends here: every way on that the automaton has is cut."
        if asked["cut_count"]:
            likeliest = asked["cut"][0]
            tokens = counted(asked["cut_count"], "token")
            yield (
                f"The rule, {rule}, cuts {tokens} of the {asked['legal']:,} that the automaton allows; the likeliest of"
                f" those cut, “{likeliest['token']}”, has rank {likeliest['rank']:,} among all tokens"
                f" ({probability_text(math.exp(likeliest['log_prob']))})."
            )


def _waiting(entry: Mapping[str, Any]) -> Iterator[str]:
    ready = [item for item in entry["waiting"] if item["rival"] is None]
    held = [item for item in entry["waiting"] if item["rival"] is not None]
    if ready:
        listed = ", ".join(f"“{path_text(item['path'])}” (cost {item['cost']:.2f})" for item in ready[:_EXPLAINED])
        rest = f" and {len(ready) - _EXPLAINED:,} more" if len(ready) > _EXPLAINED else ""
        is_found = "is found and may be" if len(ready) == 1 else "are found and may be"
        yield f"{listed}{rest} {is_found} shown next: no path that could go on is cheaper."
    for item in held[:1]:
        rival = item["rival"]
        more = f", and neither may the {counted(len(held) - 1, 'match', 'matches')} behind it" if held[1:] else ""
        yield (
            f"“{path_text(item['path'])}” (cost {item['cost']:.2f}) is found, but may not be shown yet{more}: the open"
            f" path “{path_text(rival['path'])}” costs {rival['cost']:.2f} and could still lead to a cheaper string."
        )


def _showing(entry: Mapping[str, Any]) -> Iterator[str]:
    for item in entry["shown"]:
        yield f"“{item['text']}” (cost {item['cost']:.2f}) is match number {item['place']}."
    if entry["next_cost"] is None:
        yield "It may be shown because nothing else is open." if entry["shown"] else "No open path is left."
    elif entry["shown"]:
        yield (
            f"It may be shown because everything that is open costs {entry['next_cost']:.2f} or more, and a path never"
            " gets cheaper by going on."
        )
