"""Figures of the positions of edits (Figure 9 of the ReLM paper).

    1 |  ____--------===
      | |       ___/         edges: nearly all edits at the first character
      | |  ____/             strings: the same share at each character
    0 |_|_/_____________
        character

Pure functions of the findings of a bias study.
"""

from __future__ import annotations

from collections.abc import Sequence

from relens.studies.bias_findings import BiasFindings, PositionCurve
from relens_dashboard.charts import SHARE, STYLES, Chart, chart, line
from relens_dashboard.studies.view import Figure

#: The ways to draw a prefix, in plain words.
_WAYS = {
    "strings": "every string alike",
    "tokens": "every token path alike",
    "edges": "a coin at every character",
}


def position_figures(findings: BiasFindings) -> list[Figure]:
    """The positions of edits in drawn prefixes, and in the whole strings of the samples."""
    figures = []
    if findings.prefix_curves:
        names = [_WAYS.get(curve.name, curve.name) for curve in findings.prefix_curves]
        figures.append(
            Figure(
                "Positions of edits in the prefix",
                "The share of edits at a character or before it, by the way to draw a prefix. A straight line spreads"
                " edits evenly. A curve that leaps up at the start crowds them there, and the words that follow hardly"
                " ever change.",
                _curves(findings.prefix_curves, names),
            )
        )
    if findings.match_curves:
        figures.append(
            Figure(
                "Positions of edits in drawn strings",
                "The same for whole strings, in the ways to ask with one edit. The sampler places edits of the prefix,"
                " the model those behind it.",
                _curves(findings.match_curves, [curve.name for curve in findings.match_curves]),
            )
        )
    return figures


def _curves(curves: Sequence[PositionCurve], names: Sequence[str]) -> Chart:
    end = max(curve.positions[-1] for curve in curves)
    marks = []
    for place, (curve, name) in enumerate(zip(curves, names, strict=True)):
        # All curves end at the last position of any.
        rest = [end] if curve.positions[-1] < end else []
        marks.append(
            line(
                [*curve.positions, *rest],
                [*curve.cumulative, *(1.0 for _ in rest)],
                name=name,
                style=STYLES[place % len(STYLES)],
                steps=True,
                hover="%{y:.0%} of the edits up to character %{x}",
            )
        )
    halves = "; ".join(
        f"{name}: half of them up to character {_middle(curve)}" for curve, name in zip(curves, names, strict=True)
    )
    return chart(
        marks,
        f"Cumulative positions of edits; {halves}.",
        x={"title": "Character of the text, from 0"},
        y=SHARE | {"title": "Cumulative share of edits"},
        showlegend=True,
    )


def _middle(curve: PositionCurve) -> int:
    return next(position for position, share in zip(curve.positions, curve.cumulative, strict=True) if share >= 0.5)
