"""The figures of search effort: what more restarts and longer shortlists bring, what they cost, and how losses fall.

    reached   ┌──────────── G = 30          reached     G = 30 ──◆
              │  ╱‾‾‾‾‾‾‾‾‾ G = 10                 G = 10 ──●
              └─────────────── restarts            └────────────── seconds a target

Pure functions of rows: figures 4b and 4a of He and Glass 2019, appendix D.
"""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from app.charts import BLUE, GREEN, LEGEND, MARGINS, ORANGE, PINK, RED, SKY, Chart, interval_bars
from app.narrative import duration_text, interval_text
from app.studies.trigger_charts import list_style
from app.studies.trigger_words import hit_label, list_label
from app.studies.view import Figure, Rows
from app.text import as_plotly
from engine.counted import counted
from engine.percent import percent
from engine.triggers.search.ablation_findings import EffortCell, LossCurve, effort_cells, loss_curves

#: Of each G in turn a colour, a sign and a line.
_STYLES = (
    (BLUE, "circle", "solid"),
    (ORANGE, "diamond", "dash"),
    (GREEN, "square", "dot"),
    (PINK, "triangle-up", "dashdot"),
    (RED, "cross", "longdash"),
    (SKY, "x", "longdashdot"),
)

#: Where a scale of powers has a number.
_TICKS = [digit * 10.0**power for power in range(-3, 6) for digit in (1, 2, 5)]

#: Pairs of a list and a hit type that are drawn, and curves of losses; the table has them all.
MOST_PAIRS, MOST_CURVES = 3, 12


def figures(rows: Rows) -> list[Figure]:
    """Of each list and hit type hits by restarts and by time; and the losses of all of them."""
    pairs: dict[tuple[str, str], list[EffortCell]] = {}
    for cell in effort_cells(rows):
        pairs.setdefault((cell.target_list, cell.hit_type), []).append(cell)
    drawn = []
    for cells in list(pairs.values())[:MOST_PAIRS]:
        if max(cell.restarts for cell in cells) > 1:
            drawn.append(by_restarts(cells))
        if len(cells) > 1:
            drawn.append(by_time(cells))
    curves = loss_curves(rows)
    return [*drawn, losses(curves)] if curves else drawn


def by_restarts(cells: Sequence[EffortCell]) -> Figure:
    """Figure 4b of one list and hit type: the share that is reached by so many restarts, a line for each G."""
    figure = go.Figure()
    ends = []
    groups = _by_shortlist(cells)
    for place, (shortlist, own) in enumerate(groups):
        # Beside each other, so that no interval hides another.
        shift = (place - (len(groups) - 1) / 2) * 0.09
        _add_line(figure, place, _name(shortlist), [cell.restarts + shift for cell in own], own)
        first, last = own[0], own[-1]
        ends.append(f"{percent(first.share.value)} to {percent(last.share.value)} with {_name(shortlist)}")
    most = max(cell.restarts for cell in cells)
    figure.update_xaxes(title="Restarts (r)", tickmode="linear", tick0=1, dtick=max(1, most // 10))
    _finish(figure)
    sentence = (
        f"{_targets(cells[0])}: from 1 to {most} restarts, the share that is reached goes from {'; '.join(ends)}. "
        "Each number of restarts is a part of the same searches."
    )
    return Figure(f"What more restarts bring: {_pair(cells[0])}", sentence, Chart(figure, f"Lines. {sentence}"))


def by_time(cells: Sequence[EffortCell]) -> Figure:
    """The same by the time that a target takes; time on a scale of powers, a line for each G."""
    figure = go.Figure()
    told = []
    for place, (shortlist, own) in enumerate(_by_shortlist(cells)):
        _add_line(figure, place, _name(shortlist), [max(cell.seconds, 1e-3) for cell in own], own)
        told.append(f"{duration_text(own[-1].seconds)} with {_name(shortlist)}")
    figure.update_xaxes(title="Seconds a target", type="log", tickvals=_TICKS, ticktext=[f"{at:g}" for at in _TICKS])
    _finish(figure)
    most = max(cell.restarts for cell in cells)
    sentence = (
        f"{_targets(cells[0])}: {counted(most, 'restart')} {'takes' if most == 1 else 'take'} {', '.join(told)}, on "
        "the machine of this run. Fewer restarts count with their part of the inputs that were tried."
    )
    return Figure(f"What it costs: {_pair(cells[0])}", sentence, Chart(figure, f"Lines by time. {sentence}"))


def losses(curves: Sequence[LossCurve]) -> Figure:
    """Figure 4a: the mean objective of the reply by sweep, a curve for each list, hit type and G."""
    figure = go.Figure()
    shortlists = list(dict.fromkeys(curve.shortlist for curve in curves))
    told = []
    lists = {curve.target_list for curve in curves}
    kinds = list(dict.fromkeys((curve.hit_type, curve.shortlist) for curve in curves))
    for curve in curves[:MOST_CURVES]:
        color, symbol, dash = _STYLES[kinds.index((curve.hit_type, curve.shortlist)) % len(_STYLES)]
        if len(lists) > 1:  # then the colour is that of the list, as on the page of the search
            color, _, _ = list_style(curve.target_list)
        name = f"{curve.target_list}, {curve.hit_type}" + (f", G = {curve.shortlist:,}" if len(shortlists) > 1 else "")
        figure.add_trace(
            go.Scatter(
                x=list(range(len(curve.values))),
                y=list(curve.values),
                mode="lines+markers",
                name=as_plotly(name),
                line={"color": color, "dash": dash, "width": 2},
                marker={"symbol": symbol, "size": 6},
                hovertemplate=f"{as_plotly(name)}<br>sweep %{{x}}: %{{y:.3f}} nats<extra></extra>",
            )
        )
        told.append(f"{curve.values[0]:.2f} to {curve.values[-1]:.2f} ({name})")
    longest = max(len(curve.values) for curve in curves)
    figure.update_xaxes(title="Sweep", tickmode="linear", tick0=0, dtick=max(1, longest // 10))
    figure.update_yaxes(title="Objective of the reply, nats", rangemode="tozero")
    figure.update_layout(height=360 + 12 * len(told), margin=MARGINS, legend=LEGEND, showlegend=True)
    more = f" The first {MOST_CURVES} of {len(curves)} are drawn." if len(curves) > MOST_CURVES else ""
    sentence = (
        f"What is left to do for the reply, by the best restart and on average over the targets of a list, from before "
        f"the first sweep to after the last: {'; '.join(told)} nats.{more}"
    )
    return Figure("How the losses fall", sentence, Chart(figure, f"Lines by sweep. {sentence}"))


def _add_line(figure: go.Figure, place: int, name: str, across: Sequence[float], own: Sequence[EffortCell]) -> None:
    color, symbol, dash = _STYLES[place % len(_STYLES)]
    figure.add_trace(
        go.Scatter(
            x=list(across),
            y=[cell.share.value for cell in own],
            mode="lines+markers",
            name=name,
            line={"color": color, "dash": dash, "width": 2},
            marker={"symbol": symbol, "size": 8},
            error_y=interval_bars([cell.share for cell in own], color=color, thickness=1, width=3),
            hovertext=[
                f"{name}, {counted(cell.restarts, 'restart')}: {cell.hits} of {cell.targets}, "
                f"{percent(cell.share.value)} (95 %: {interval_text(cell.share.low, cell.share.high)})<br>"
                f"{cell.candidates:,.0f} inputs tried and {duration_text(cell.seconds)} a target"
                for cell in own
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )


def _finish(figure: go.Figure) -> None:
    figure.update_yaxes(title="Share of targets reached", range=[-0.02, 1.02], tickformat=".0%")
    figure.update_layout(height=320, margin=MARGINS, legend=LEGEND, showlegend=True)


def _by_shortlist(cells: Sequence[EffortCell]) -> list[tuple[int, list[EffortCell]]]:
    return [
        (shortlist, [cell for cell in cells if cell.shortlist == shortlist])
        for shortlist in dict.fromkeys(cell.shortlist for cell in cells)
    ]


def _name(shortlist: int) -> str:
    return f"G = {shortlist:,}"


def _pair(cell: EffortCell) -> str:
    return f"{cell.target_list}, {hit_label(cell.hit_type)}"


def _targets(cell: EffortCell) -> str:
    return f"{counted(cell.targets, 'target')} of the list “{list_label(cell.target_list)}”, by {cell.hit_type}"
