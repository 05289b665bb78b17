"""Figures of the bias study; pure functions of its findings.

Each variant has a small picture of its own (Tufte's small multiples): outcomes from top to bottom, in the same order
everywhere, and for each subject a mark with its interval. Subjects differ in hue and in the shape of their mark.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.charts import BLUE, GREEN, MARGINS, ORANGE, PINK, RED, SKY, Chart, interval_bars
from app.narrative import interval_text, probability_text
from app.studies.view import Figure
from app.text import as_plotly, shortened
from engine.counted import counted
from engine.statistics import Estimate
from engine.studies.bias_findings import BiasFindings
from engine.studies.bias_shares import VariantFindings
from engine.studies.bias_verdict import carries_conclusion, lacks_draws

_HUES = (BLUE, ORANGE, GREEN, PINK, RED, SKY)
_MARKS = ("circle", "diamond", "square", "triangle-up", "x", "star")
_GREY = "#8A939B"
#: Pixels between two rows of pictures: the ticks of one and the title of the next.
_BETWEEN = 84
_MOST_PANELS, _MOST_OUTCOMES, _MOST_SERIES = 12, 20, 6


def share_figure(findings: BiasFindings) -> Figure | None:
    """P(outcome | subject) in every variant; None while there is nothing."""
    variants = _shown(findings)
    if not variants:
        return None
    subjects = variants[0].subjects[:_MOST_SERIES]
    outcomes = _order(variants)
    figure = _panels(variants, outcomes)
    for panel, variant in enumerate(variants):
        shares = {(share.subject, share.outcome): share for share in variant.shares}
        for place, subject in enumerate(subjects):
            values = [shares[subject, outcome].share for outcome in outcomes]
            _marks(
                figure,
                _cell(panel, variants),
                place,
                subject,
                values,
                [
                    f"{as_plotly(outcome)}, given {as_plotly(subject)}: {probability_text(value.value)}"
                    + (f" ({interval_text(value.low, value.high)})" if value.high > value.low else "")
                    for outcome, value in zip(outcomes, values, strict=True)
                ],
                len(subjects),
            )
    figure.update_xaxes(autorangeoptions={"include": [0]}, tickformat="~%")
    _same_scale(figure, variants)
    figure.update_layout(updatemenus=[_scale_switch(variants)])
    chart = Chart(figure, f"Shares of {counted(len(outcomes), 'outcome')} {_alt(variants)}.")
    return Figure(
        "What is said of whom",
        "How likely each outcome is for each subject, one picture for each way to ask. Where the marks of a line lie"
        " apart, the subject makes a difference. Lines through marks are 95 % intervals, and exact answers need none."
        " Ways to ask with too few draws for a conclusion, or with draws missing, have a scale of their own.",
        chart,
    )


def difference_figure(findings: BiasFindings) -> Figure | None:
    """P(outcome | subject) - P(outcome | other) in every variant, for each two subjects."""
    variants = _shown(findings)
    if not variants:
        return None
    pairs = list(dict.fromkeys((found.subject, found.other) for found in variants[0].differences))[:_MOST_SERIES]
    outcomes = _order(variants)
    figure = _panels(variants, outcomes)
    certain = 0
    for panel, variant in enumerate(variants):
        found = {(one.subject, one.other, one.outcome): one for one in variant.differences}
        for place, (subject, other) in enumerate(pairs):
            differences = [found[subject, other, outcome] for outcome in outcomes]
            filled = [one.is_certain and carries_conclusion(variant) for one in differences]
            certain += sum(filled)
            _marks(
                figure,
                _cell(panel, variants),
                place,
                f"{subject} less {other}",
                [one.value for one in differences],
                [
                    f"{as_plotly(one.outcome)}: {_points(one.value.value)} for {as_plotly(subject)} than for "
                    f"{as_plotly(other)} ({'to one side of zero' if one.is_certain else 'the interval holds zero'})"
                    for one in differences
                ],
                len(pairs),
                filled=filled,
            )
        row, column = _cell(panel, variants)
        figure.add_vline(x=0, line={"color": _GREY, "width": 1}, row=row, col=column)
    figure.update_xaxes(tickformat="+~%")
    _same_scale(figure, variants)
    pair = f" ({pairs[0][0]} less {pairs[0][1]})" if len(pairs) == 1 else ""
    return Figure(
        "Where the subjects differ",
        f"The difference between two subjects{pair}, outcome by outcome: right of the line, the outcome is likelier for"
        " the first. A filled mark's interval lies to one side of zero; of a hollow one even the direction is open.",
        Chart(figure, f"Differences between subjects {_alt(variants)}; {certain} do not hold zero."),
    )


def _shown(findings: BiasFindings) -> list[VariantFindings]:
    """The variants that have anything to show."""
    return [one for one in findings.variants if any(share.count for share in one.shares)][:_MOST_PANELS]


def _order(variants: Sequence[VariantFindings]) -> list[str]:
    """The outcomes, the likeliest of the first variant first."""
    totals = dict.fromkeys(variants[0].outcomes, 0.0)
    for share in variants[0].shares:
        totals[share.outcome] += share.share.value
    return sorted(totals, key=lambda outcome: -totals[outcome])[:_MOST_OUTCOMES]


def _columns(variants: Sequence[VariantFindings]) -> int:
    return min(2, len(variants))


def _cell(panel: int, variants: Sequence[VariantFindings]) -> tuple[int, int]:
    """Row and column of a picture, from 1."""
    row, column = divmod(panel, _columns(variants))
    return row + 1, column + 1


def _same_scale(figure: go.Figure, variants: Sequence[VariantFindings]) -> None:
    """One scale for all that carry a conclusion, and one for the others, whose intervals would squeeze these."""
    firsts: dict[bool, str] = {}
    for panel, variant in enumerate(variants):
        first = firsts.setdefault(carries_conclusion(variant), f"x{panel + 1}" if panel else "x")
        row, column = _cell(panel, variants)
        figure.update_xaxes(matches=first, row=row, col=column)


def _panels(variants: Sequence[VariantFindings], outcomes: Sequence[str]) -> go.Figure:
    columns = _columns(variants)
    rows = -(-len(variants) // columns)
    height = 46 + 22 * len(outcomes)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        shared_yaxes=True,
        horizontal_spacing=0.03,
        vertical_spacing=min(0.9 / max(rows - 1, 1), _BETWEEN / (rows * (height + _BETWEEN))),
        subplot_titles=[_title(variant) for variant in variants],
    )
    figure.update_annotations(font={"size": 11})
    figure.update_yaxes(
        range=[len(outcomes) - 0.4, -0.6],
        tickmode="array",
        tickvals=list(range(len(outcomes))),
        ticktext=[as_plotly(shortened(outcome, 24)) for outcome in outcomes],
        automargin=True,
        ticklabelstandoff=4,
        zeroline=False,
    )
    figure.update_xaxes(showticklabels=True, nticks=5)
    figure.update_layout(
        height=rows * (height + _BETWEEN) + 50,
        margin=MARGINS | {"t": 96},
        legend={"orientation": "h", "yref": "container", "y": 1.0, "yanchor": "top", "x": 0},
    )
    return figure


def _title(variant: VariantFindings) -> str:
    """The label in short lines, for a narrow picture, and whether too little stands behind it."""
    way, _, how = variant.label.removesuffix(")").rpartition(" (")
    encodings, _, rest = way.partition(" with")
    prefix, _, edited = f"with{rest}".partition(", ")
    weakness = "" if carries_conclusion(variant) else "draws missing" if lacks_draws(variant) else "too few draws"
    last = ", ".join(part for part in (edited, how, weakness) if part)
    return "<br>".join(as_plotly(line) for line in (encodings, prefix, last))


def _marks(
    figure: go.Figure,
    cell: tuple[int, int],
    place: int,
    name: str,
    values: Sequence[Estimate],
    hover: Sequence[str],
    series: int,
    filled: Sequence[bool] | None = None,
) -> None:
    """One series of marks with their intervals in one panel, a little above or below the others."""
    mark = _MARKS[place]
    has_interval = any(value.high > value.low for value in values)
    figure.add_trace(
        go.Scatter(
            x=[value.value for value in values],
            y=[line + (place - (series - 1) / 2) * min(0.26, 0.7 / series) for line in range(len(values))],
            name=as_plotly(shortened(name, 40)),
            legendgroup=str(place),
            showlegend=cell == (1, 1),
            mode="markers",
            marker={
                "symbol": [mark if flag else f"{mark}-open" for flag in filled] if filled else mark,
                "color": _HUES[place],
                "size": 9,
                "line": {"width": 1.5, "color": _HUES[place]},
            },
            error_x=interval_bars(values, thickness=1.3, width=3, color=_HUES[place]) if has_interval else None,
            hovertext=list(hover),
            hovertemplate="%{hovertext}<extra></extra>",
        ),
        row=cell[0],
        col=cell[1],
    )


def _scale_switch(variants: Sequence[VariantFindings]) -> dict[str, object]:
    """Two buttons in the figure itself, so that a report in a file has them too."""
    return {
        "type": "buttons",
        "direction": "right",
        "x": 1.0,
        "xanchor": "right",
        "y": 1.0,
        "yanchor": "bottom",
        "pad": {"b": 54},
        "showactive": False,
        "bgcolor": "rgba(138,147,155,0.15)",
        "bordercolor": _GREY,
        "font": {"color": _GREY},
        "buttons": [
            {"label": kind, "method": "relayout", "args": [_axes(kind, variants)]} for kind in ("linear", "log")
        ],
    }


def _axes(kind: str, variants: Sequence[VariantFindings]) -> dict[str, object]:
    """All axes at once; on a logarithmic one, an interval that reaches 0 would reach beyond any picture."""
    changes: dict[str, object] = {}
    for panel, variant in enumerate(variants):
        name = f"xaxis{panel + 1}" if panel else "xaxis"
        changes |= {f"{name}.type": kind, f"{name}.autorange": kind == "linear"}
        alike = [one for one in variants if carries_conclusion(one) == carries_conclusion(variant)]
        positive = [share.share.value for one in alike for share in one.shares if share.share.value > 0.0]
        if kind == "log" and positive:
            most = max(share.share.high for one in alike for share in one.shares)
            changes[f"{name}.range"] = [math.log10(min(positive)) - 0.4, math.log10(most) + 0.1]
    return changes


def _points(value: float) -> str:
    return f"{100 * abs(value):.1f} points {'likelier' if value > 0.0 else 'less likely'}"


def _alt(variants: Sequence[VariantFindings]) -> str:
    return f"in {counted(len(variants), 'way')} to ask: {'; '.join(variant.label for variant in variants)}"
