"""Where the edits of random walks fall: figures and sentences from `engine.learn.random_walks`; pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

import pandas as pd

from app.charts import FROM_ZERO, GREY, SHARE, STYLES, Chart, Style, bars, chart, dots, line
from app.narrative import probability_text
from engine.counted import counted
from engine.learn.random_walks import UNEDITED, Crossing, Draws, RandomWalks

#: What each rule is called, and what it does, for people.
RULE_NAMES = {"strings": "By strings", "edges": "By edges", "tokens": "By token paths"}
RULE_WORDS = {
    "strings": "every string alike: an arc counts for the strings behind it",
    "edges": "a coin at every state: each way on alike, whatever lies behind it",
    "tokens": "every encoding alike: a string counts for the ways to spell it in tokens",
}
_STYLES = dict(zip(("strings", "edges", "tokens"), STYLES, strict=False))


def positions_chart(draws: Draws, drawn: int) -> Chart:
    """The share of the first `drawn` walks whose edit is at each place, as bars; what they tend to, as marks."""
    counts = Counter(draws.positions[:drawn])
    places = list(range(UNEDITED, len(draws.exact) - 1))
    labels = ["none" if place == UNEDITED else str(place) for place in places]
    most = max(places, key=lambda place: draws.exact[place - UNEDITED])
    where = "no edit" if most == UNEDITED else f"character {most}"
    share = probability_text(draws.exact[most - UNEDITED])
    return chart(
        [
            bars(
                [counts[place] / max(drawn, 1) for place in places],
                at=labels,
                name="drawn",
                style=_STYLES[draws.rule],
                hover="edit at %{x}: %{y:.1%} of the walks drawn",
                upright=True,
            ),
            dots(
                labels,
                draws.exact,
                name="exact",
                style=Style(GREY, symbol="line-ew-open"),
                size=13,
                hover="edit at %{x}: exactly %{y:.1%}",
            ),
        ],
        f"{RULE_NAMES[draws.rule]}, {counted(drawn, 'walk')}: exactly, most edits are at {where}, {share} of all.",
        x={"title": "Edited character, from 0", "type": "category", "tickangle": 0},
        y=FROM_ZERO | {"title": "Share of walks", "tickformat": ".0%"},
        height=250,
    )


def cumulative_chart(walks: RandomWalks, drawn: int) -> Chart:
    """The share of edits up to each place, by each rule, on one axis: lines exactly, dots as drawn (Figure 9)."""
    marks, halves = [], []
    for draws in walks.draws:
        edited = draws.exact[1:]
        places = list(range(len(edited)))
        exact = [value / sum(edited) for value in accumulate(edited)]
        name, style = RULE_NAMES[draws.rule], _STYLES[draws.rule]
        hover = "%{y:.0%} of the edits up to character %{x}"
        marks.append(line(places, exact, name=name, style=style, hover=hover))
        counts = Counter(place for place in draws.positions[:drawn] if place != UNEDITED)
        if total := sum(counts.values()):
            seen = [value / total for value in accumulate(counts[place] for place in places)]
            marks.append(dots(places, seen, style=style, size=6, hover="drawn: %{y:.0%} up to character %{x}"))
        half = next(place for place, value in enumerate(exact) if value >= 0.5)
        halves.append(f"{name.lower()}: half of them up to character {half}")
    return chart(
        marks,
        f"Cumulative positions of edits; {'; '.join(halves)}.",
        x={"title": "Edited character, from 0", "dtick": 1 if len(places) < 26 else None},
        y=SHARE | {"title": "Cumulative share of edits"},
    )


def findings(walks: RandomWalks) -> list[str]:
    """What the comparison says, exactly."""
    by_rule = {draws.rule: draws.exact for draws in walks.draws}
    edges, strings, tokens = (by_rule[rule] for rule in ("edges", "strings", "tokens"))
    told = [
        f"Within one edit there are {counted(walks.strings, 'string')}, spelled by {walks.encodings} token sequences.",
        f"Walking by edges, {probability_text(edges[1])} of the walks are edited at the first character; if every"
        f" string is alike it is {probability_text(strings[1])}.",
    ]
    if edges[1] > 2 * strings[1]:
        told[-1] += (
            " At the start most ways on are edits, and once the one edit is made, the walk can do no more than spell"
            " the rest. Counting the strings behind each arc puts that right."
        )
    apart = 0.5 * sum(abs(one - other) for one, other in zip(tokens, strings, strict=True))
    told.append(
        f"Counting token paths instead moves {probability_text(apart)} of the walks to other characters: where an edit"
        " leaves more ways to cut the string into tokens, there are more paths."
    )
    return told


def crossing_table(crossing: Crossing, taken: int) -> pd.DataFrame:
    """The ways on from a state, with their probabilities by both rules; `taken` is the one that the walk takes."""
    return pd.DataFrame(
        [
            {
                "Taken": place == taken,
                "Way on": turn.label if turn.label else "stop here",
                "Characters": turn.count if turn.label else None,
                "Strings behind": turn.walks,
                "By strings": turn.by_strings,
                "By edges": turn.by_edges,
            }
            for place, turn in enumerate(crossing.turns)
        ]
    )


def edits_listed(texts: Sequence[str]) -> list[str]:
    """Walks as choices, numbered because two may be alike."""
    return [f"{number}: {text}" for number, text in enumerate(texts, 1)]
