"""DataFrames and rows to plotly figures; pure functions, no page.

Colours are Okabe and Ito's, distinguishable with any colour vision, and never the only sign: canonical bars are plain
and others hatched, the bounds of the mass are labelled. All text on a figure has gone through `app.text.as_plotly`.
Each figure comes with a sentence that stands in for it where it cannot be seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
import plotly.graph_objects as go

from app.narrative import duration_text, probability_text
from app.tables import told_apart
from app.text import as_plotly, shortened, visible

if TYPE_CHECKING:
    from engine.statistics import Estimate

BLUE, ORANGE, GREEN, PINK, SKY, RED = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"

#: Of the bars of intervals that lie on coloured ones: seen on these, on white and on black.
INTERVAL_GREY = "#6B757E"

#: Shown with every figure: save as a vector drawing, and no logo.
CONFIG = {
    "displaylogo": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
    "toImageButtonOptions": {"format": "svg", "filename": "relens"},
}

MARGINS = {"l": 8, "r": 8, "t": 8, "b": 8}

#: Of a line over a figure's width.
_MOST_POINTS = 1_000

#: Above the figure, side by side.
LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}


@dataclass(frozen=True)
class Chart:
    """A figure, and a sentence that says the same to who cannot see it."""

    figure: go.Figure
    alt: str


def hatched(shapes: str | Sequence[str]) -> dict[str, Any]:
    """White marks of these shapes over a bar's own colour; an empty shape leaves it plain."""
    return {"shape": shapes, "fgcolor": "rgba(255,255,255,0.8)", "fillmode": "overlay"}


def interval_bars(values: Sequence[Estimate], **style: Any) -> dict[str, Any]:
    """Bars from the low to the high end of each value's interval; style: their "color", "thickness", "width"."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [max(value.high - value.value, 0.0) for value in values],
        "arrayminus": [max(value.value - value.low, 0.0) for value in values],
        **style,
    }


def saved_as(picture: str, name: str) -> dict[str, Any]:
    """`CONFIG` for a figure that is saved as "svg" or "png" under a name, twice as large."""
    return CONFIG | {"toImageButtonOptions": {"format": picture, "filename": name, "scale": 2}}


def probability_bars(table: pd.DataFrame, count: int = 12) -> Chart:
    """The first `count` lines of a table of matches or strings as bars, longest text cut.

    Hatched where the tokens, or most of the probability of a string's tokens, are not the tokenizer's own.
    """
    top = table.head(count)
    labels = [as_plotly(shortened(text, 34)) for text in told_apart(table)[:count]]
    canonical = list(top["Canonical"] if "Canonical" in top else top["Own spelling"] >= 0.5)
    figure = go.Figure(
        go.Bar(
            x=top["Probability"],
            y=[f"{place}" for place in top["#"]],
            orientation="h",
            marker={
                "color": BLUE,
                "pattern": {
                    "shape": ["" if flag else "/" for flag in canonical],
                    "fgcolor": "rgba(255,255,255,0.75)",
                    "fillmode": "overlay",
                },
            },
            customdata=[probability_text(value) for value in top["Probability"]],
            text=labels,
            textposition="none",
            hovertemplate="%{text}<br>%{customdata}<extra></extra>",
        )
    )
    figure.update_yaxes(
        type="category",
        autorange="reversed",
        tickmode="array",
        tickvals=[f"{place}" for place in top["#"]],
        ticktext=labels,
        automargin=True,
        ticklabelstandoff=6,
    )
    figure.update_xaxes(title="Probability under the decoding rule", rangemode="tozero", tickformat="~g")
    figure.update_layout(height=max(160, 56 + 26 * len(top)), margin=MARGINS, bargap=0.25)
    best = top["Probability"].max() if len(top) else 0.0
    return Chart(figure, f"Bars of the {len(top)} best matches; the most likely has {probability_text(best)}.")


def mass_over_time(history: Sequence[tuple[float, float, float]]) -> Chart:
    """The bounds on the mass as they close in: `history` has (seconds, lower, upper), in order of time."""
    seconds = [point[0] for point in history]
    figure = go.Figure()
    for name, values, color, fill, dash in (
        ("at least", [point[1] for point in history], BLUE, None, "solid"),
        ("at most", [point[2] for point in history], ORANGE, "tonexty", "dash"),
    ):
        figure.add_trace(
            go.Scatter(
                x=seconds,
                y=values,
                name=name,
                mode="lines",
                line={"color": color, "width": 2, "shape": "hv", "dash": dash},
                fill=fill,
                fillcolor="rgba(86,180,233,0.18)",
                hovertemplate="%{x:.1f} s: " + name + " %{y:.3~g}<extra></extra>",
            )
        )
    figure.update_xaxes(title="Seconds")
    figure.update_yaxes(title="Probability of a match", tickformat=".3~g", rangemode="tozero")
    figure.update_layout(height=240, margin=MARGINS, legend={"orientation": "h", "y": 1.12, "x": 0})
    if not history:
        return Chart(figure, "No bounds yet.")
    _, lower, upper = history[-1]
    return Chart(
        figure,
        f"Bounds on the probability of a match over time: now between {probability_text(lower)} "
        f"and {probability_text(upper)}.",
    )


def matches_over_time(rows: Sequence[Mapping[str, Any]]) -> Chart:
    """How many matches were found by when; of many only so many points as one could tell apart."""
    seconds = [float(row["seconds"]) for row in rows]
    step = max(1, math.ceil(len(seconds) / _MOST_POINTS))
    places = [*range(step, len(seconds), step), len(seconds)] if seconds else []
    figure = go.Figure(
        go.Scatter(
            x=[0.0, *(seconds[place - 1] for place in places)],
            y=[0, *places],
            mode="lines",
            line={"color": GREEN, "width": 2, "shape": "hv"},
            hovertemplate="%{y} matches after %{x:.2f} s<extra></extra>",
        )
    )
    figure.update_xaxes(title="Seconds")
    figure.update_yaxes(title="Matches", rangemode="tozero")
    figure.update_layout(height=240, margin=MARGINS, showlegend=False)
    last = duration_text(seconds[-1]) if seconds else "0 s"
    return Chart(figure, f"{len(seconds)} matches found over {last}.")


def token_bars(readings: Sequence[Mapping[str, Any]], prefix_tokens: int) -> Chart:
    """The probability of each token of one match, in order; tokens of the prefix are grey, refused ones red."""
    positions = [str(place) for place in range(1, len(readings) + 1)]
    probabilities = [None if reading["log_prob"] is None else math.exp(reading["log_prob"]) for reading in readings]
    colors = [
        "#8A939B" if place < prefix_tokens else RED if reading["allowed"] is False else BLUE
        for place, reading in enumerate(readings)
    ]
    shapes = [
        "" if place < prefix_tokens or reading["allowed"] is not False else "x"
        for place, reading in enumerate(readings)
    ]
    labels = [as_plotly(shortened(visible(reading["text"]), 14)) for reading in readings]
    figure = go.Figure(
        go.Bar(
            x=positions,
            y=probabilities,
            marker={"color": colors, "pattern": hatched(shapes)},
            text=labels,
            textposition="none",
            customdata=[
                [
                    "no context before it" if probability is None else probability_text(probability),
                    "–" if reading["rank"] is None else f"{reading['rank']:,}",
                ]
                for probability, reading in zip(probabilities, readings, strict=True)
            ],
            hovertemplate="<b>%{text}</b><br>%{customdata[0]}<br>rank %{customdata[1]}<extra></extra>",
        )
    )
    figure.update_xaxes(type="category", tickmode="array", tickvals=positions, ticktext=labels, tickangle=-45)
    figure.update_yaxes(title="Probability", range=[0, 1.02], tickformat=".0%")
    figure.update_layout(height=280, margin=MARGINS, bargap=0.2)
    known = [probability for probability in probabilities[prefix_tokens:] if probability is not None]
    least = f"; the least likely has {probability_text(min(known))}" if known else ""
    return Chart(figure, f"Bars of the probability of each of {len(readings)} tokens{least}.")
