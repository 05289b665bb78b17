"""Figures of a search's matches and of its progress; pure functions of tables and rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from relens_dashboard.charts import FROM_ZERO, GREY, RED, STYLES, Chart, Style, bars, chart, labelled, line, thinned
from relens_dashboard.narrative import duration_text, probability_text
from relens_dashboard.tables import distinct_labels
from relens_dashboard.text import shortened, visible

_PREFIX, _REFUSED = Style(GREY), Style(RED, pattern="x")


def probability_bars(table: pd.DataFrame, count: int = 12) -> Chart:
    """The first `count` lines of a table of matches or strings as bars, longest text cut.

    Hatched where the tokens, or most of the probability of a string's tokens, are not the tokenizer's own.
    """
    top = table.head(count)
    labels = [shortened(text, 34) for text in distinct_labels(table)[:count]]
    canonical = top["Canonical"] if "Canonical" in top else top["Canonical share"] >= 0.5
    probabilities = [float(value) for value in top["Probability"]]
    texts = [probability_text(value) for value in probabilities]
    best = probability_text(max(probabilities, default=0.0))
    return chart(
        [
            bars(
                probabilities,
                style=[Style() if flag else Style(pattern="/") for flag in canonical],
                hover=[f"{label}\n{text}" for label, text in zip(labels, texts, strict=True)],
            )
        ],
        f"Bars of the {len(top)} best matches; the most likely has {best}.",
        x=FROM_ZERO | {"title": "Probability under the decoding rule", "tickformat": "~g"},
        y_labels=labels,
    )


def mass_over_time(history: Sequence[tuple[float, float, float]]) -> Chart:
    """The bounds on the mass over time. history: (seconds, lower, upper), in order of time."""
    hover = "%{fullData.name} after %{x:.1f} s: %{y:.3~g}"
    seconds, lower, upper = ([point[place] for point in history] for place in range(3))
    last = f"{probability_text(lower[-1])} and {probability_text(upper[-1])}" if history else ""
    return chart(
        [
            line(seconds, lower, name="lower bound", steps=True, hover=hover),
            line(seconds, upper, name="upper bound", style=STYLES[1], steps=True, shaded=True, hover=hover),
        ],
        f"Bounds on the probability of a match over time: now between {last}." if history else "No bounds yet.",
        x={"title": "Seconds"},
        y=FROM_ZERO | {"title": "Probability of a match", "tickformat": ".3~g"},
    )


def matches_over_time(rows: Sequence[Mapping[str, Any]]) -> Chart:
    """The number of matches over time."""
    seconds = [0.0, *(float(row["seconds"]) for row in rows)]
    places = thinned(len(seconds))
    return chart(
        [line([seconds[place] for place in places], places, steps=True, hover="%{y} matches after %{x:.2f} s")],
        f"{len(rows)} matches found over {duration_text(seconds[-1]) if rows else '0 s'}.",
        x={"title": "Seconds"},
        y=FROM_ZERO | {"title": "Matches"},
    )


def token_bars(readings: Sequence[Mapping[str, Any]], prefix_tokens: int) -> Chart:
    """The probability of each token of one match, in order; tokens of the prefix are grey, refused ones red."""
    labels = [shortened(visible(reading["text"]), 14) for reading in readings]
    probabilities = [None if reading["log_prob"] is None else math.exp(reading["log_prob"]) for reading in readings]
    hover = [
        f"{label}\n{'no context before it' if probability is None else probability_text(probability)}\n"
        f"rank {'–' if reading['rank'] is None else format(reading['rank'], ',')}"
        for label, probability, reading in zip(labels, probabilities, readings, strict=True)
    ]
    styles = [
        _PREFIX if place < prefix_tokens else _REFUSED if reading["allowed"] is False else Style()
        for place, reading in enumerate(readings)
    ]
    known = [probability for probability in probabilities[prefix_tokens:] if probability is not None]
    least = f"; the least likely has {probability_text(min(known))}" if known else ""
    return chart(
        [bars(probabilities, style=styles, hover=hover, upright=True)],
        f"Bars of the probability of each of {len(readings)} tokens{least}.",
        x=labelled(labels) | {"tickangle": -45},
        y={"title": "Probability", "range": [0, 1.02], "tickformat": ".0%"},
    )
