"""The places of edits in random walks (`relens.learn.random_walks`): figures, tables and sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

import pandas as pd

from relens.counted import counted
from relens.learn.random_walks import UNEDITED, Crossing, Draws, RandomWalks
from relens_dashboard.charts import FROM_ZERO, GREY, SHARE, STYLES, Chart, Style, bars, chart, dots, line
from relens_dashboard.narrative import probability_text

#: The name of each rule, and its meaning.
RULE_NAMES = {"strings": "By strings", "edges": "By edges", "tokens": "By token paths"}
RULE_WORDS = {
    "strings": "every string is equally likely: an arc counts for the strings behind it",
    "edges": "every way on from a state is equally likely, however many strings are behind it",
    "tokens": "every encoding is equally likely: a string counts for its encodings",
}
_STYLES = dict(zip(("strings", "edges", "tokens"), STYLES, strict=False))


def positions_chart(draws: Draws, drawn: int) -> Chart:
    """The share of the first `drawn` walks with their edit at each place, as bars; the exact shares as marks."""
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
            shares = [value / total for value in accumulate(counts[place] for place in places)]
            marks.append(dots(places, shares, style=style, size=6, hover="drawn: %{y:.0%} up to character %{x}"))
        half = next(place for place, value in enumerate(exact) if value >= 0.5)
        halves.append(f"{name.lower()}: half of them up to character {half}")
    return chart(
        marks,
        f"Cumulative positions of edits; {'; '.join(halves)}.",
        x={"title": "Edited character, from 0", "dtick": 1 if len(places) < 26 else None},
        y=SHARE | {"title": "Cumulative share of edits"},
    )


def findings(walks: RandomWalks) -> list[str]:
    """The comparison of the exact shares, in sentences."""
    by_rule = {draws.rule: draws.exact for draws in walks.draws}
    edges, strings, tokens = (by_rule[rule] for rule in ("edges", "strings", "tokens"))
    sentences = [
        f"Within one edit there are {counted(walks.strings, 'string')} with {walks.encodings} encodings.",
        f"By edges, {probability_text(edges[1])} of the walks are edited at the first character; by strings,"
        f" {probability_text(strings[1])}.",
    ]
    if edges[1] > 2 * strings[1]:
        sentences[-1] += (
            " At the start most ways on are edits, and after its one edit a walk can only spell the rest. Counting the"
            " strings behind each arc corrects this."
        )
    moved = 0.5 * sum(abs(one - other) for one, other in zip(tokens, strings, strict=True))
    sentences.append(
        f"By token paths, {probability_text(moved)} of the walks move to other characters: a string with more encodings"
        " has more paths."
    )
    return sentences


def crossing_table(crossing: Crossing, taken: int) -> pd.DataFrame:
    """The ways on from a state, with their probabilities by both rules; taken: the place of the one taken."""
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
