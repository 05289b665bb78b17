"""Figures of where edits fall (Figure 9 of the ReLM paper); pure functions of the findings of a bias study."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from app.charts import BLUE, GREEN, MARGINS, ORANGE, PINK, RED, SKY, Chart
from app.studies.view import Figure
from app.text import as_plotly
from engine.studies.bias_findings import BiasFindings, PositionCurve

_HUES = (BLUE, ORANGE, GREEN, PINK, RED, SKY)
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
#: What the names of the ways to draw a prefix mean.
_WAYS = {
    "strings": "every string alike",
    "tokens": "every token path alike",
    "edges": "a coin at every character",
}


def position_figures(findings: BiasFindings) -> list[Figure]:
    """Where edits fall: in prefixes as they are drawn, and in the whole strings that were sampled."""
    found = []
    if findings.prefix_curves:
        names = [_WAYS.get(curve.name, curve.name) for curve in findings.prefix_curves]
        found.append(
            Figure(
                "Where edits fall in the prefix",
                "The share of edits that fall on a character or before it, by the way a prefix is drawn. A straight "
                "line spreads them evenly; a curve that leaps up at the start crowds them there, and hardly ever "
                "changes the words that follow.",
                _curves(findings.prefix_curves, names),
            )
        )
    if findings.match_curves:
        found.append(
            Figure(
                "Where edits fall in what was drawn",
                "The same for the whole strings of the ways to ask that allow one edit: in the prefix as it was drawn,"
                " behind it as the model chose.",
                _curves(findings.match_curves, [curve.name for curve in findings.match_curves]),
            )
        )
    return found


def _curves(curves: Sequence[PositionCurve], names: Sequence[str]) -> Chart:
    figure = go.Figure()
    end = max(curve.positions[-1] for curve in curves)
    for place, (curve, name) in enumerate(zip(curves, names, strict=True)):
        # Each is drawn to the same end, where all of its edits have been.
        rest = [end] if curve.positions[-1] < end else []
        figure.add_trace(
            go.Scatter(
                x=[*curve.positions, *rest],
                y=[*curve.cumulative, *(1.0 for _ in rest)],
                name=as_plotly(name),
                mode="lines",
                line={
                    "color": _HUES[place % len(_HUES)],
                    "width": 2,
                    "shape": "hv",
                    "dash": _DASHES[place % len(_DASHES)],
                },
                hovertemplate="%{y:.0%} of the edits up to character %{x}<extra></extra>",
            )
        )
    figure.update_xaxes(title="Character of the text, from 0")
    figure.update_yaxes(title="Share of edits so far", tickformat=".0%", range=[0, 1.02])
    figure.update_layout(
        height=320,
        margin=MARGINS,
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    )
    halves = "; ".join(
        f"{name}: half of them up to character {_middle(curve)}" for curve, name in zip(curves, names, strict=True)
    )
    return Chart(figure, f"Cumulative positions of edits; {halves}.")


def _middle(curve: PositionCurve) -> int:
    return next(position for position, share in zip(curve.positions, curve.cumulative, strict=True) if share >= 0.5)
