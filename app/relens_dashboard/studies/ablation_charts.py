"""The figures of search effort: targets reached by restarts and by time for each shortlist, and losses by sweep.

    reached   ┌──────────── G = 30          reached     G = 30 ──◆
              │  ╱‾‾‾‾‾‾‾‾‾ G = 10                 G = 10 ──●
              └─────────────── restarts            └────────────── seconds a target

Pure functions of the findings: figures 4b and 4a of He and Glass 2019, appendix D.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

from relens.counted import counted
from relens.percent import percent
from relens.triggers.search.ablation_findings import AblationFindings, EffortCell, LossCurve
from relens_dashboard.charts import FROM_ZERO, STYLES, Axis, Chart, chart, line, powers
from relens_dashboard.narrative import duration_text, estimate_text
from relens_dashboard.studies.trigger_charts import list_style
from relens_dashboard.studies.trigger_words import hit_label, list_label
from relens_dashboard.studies.view import Figure

#: Pairs of a list and a hit type in the figures, and curves of losses; the table has them all.
MOST_PAIRS, MOST_CURVES = 3, 12


def figures(findings: AblationFindings) -> list[Figure]:
    """Hits by restarts and by time for each list and hit type, and the losses of all of them."""
    drawn = []
    for cells in list(findings.cells_by_pair.values())[:MOST_PAIRS]:
        if max(cell.restarts for cell in cells) > 1:
            drawn.append(by_restarts(cells))
        if len(cells) > 1:
            drawn.append(by_time(cells))
    curves = findings.curves
    return [*drawn, losses(curves)] if curves else drawn


def by_restarts(cells: Sequence[EffortCell]) -> Figure:
    """Figure 4b of one list and hit type: the share reached by the number of restarts, a line for each G."""
    groups = _by_shortlist(cells)
    ends = [
        f"{percent(own[0].share.value)} to {percent(own[-1].share.value)} with {_name(shortlist)}"
        for shortlist, own in groups
    ]
    most = max(cell.restarts for cell in cells)
    sentence = (
        f"{_targets(cells[0])}: from 1 to {most} restarts, the share of targets reached goes from {'; '.join(ends)}. "
        "Fewer restarts are a part of the same searches."
    )
    # Side by side, so that no interval hides another.
    across = [
        [cell.restarts + (place - (len(groups) - 1) / 2) * 0.09 for cell in own]
        for place, (_, own) in enumerate(groups)
    ]
    x = {"title": "Restarts (r)", "tickmode": "linear", "tick0": 1, "dtick": max(1, most // 10)}
    drawn = _reached(groups, across, f"Lines. {sentence}", x)
    return Figure(f"Targets reached by restarts: {_pair(cells[0])}", sentence, drawn)


def by_time(cells: Sequence[EffortCell]) -> Figure:
    """The same by the time that a target takes; time on a scale of powers, a line for each G."""
    groups = _by_shortlist(cells)
    times = [f"{duration_text(own[-1].seconds)} with {_name(shortlist)}" for shortlist, own in groups]
    most = max(cell.restarts for cell in cells)
    sentence = (
        f"{_targets(cells[0])}: {counted(most, 'restart')} {'takes' if most == 1 else 'take'} {', '.join(times)}, on "
        "the machine of this run. Fewer restarts have their share of the time, by the inputs tried."
    )
    across = [[max(cell.seconds, 1e-3) for cell in own] for _, own in groups]
    x = powers(1e6, 1e-3) | {"title": "Seconds a target"}
    drawn = _reached(groups, across, f"Lines by time. {sentence}", x)
    return Figure(f"Targets reached by time: {_pair(cells[0])}", sentence, drawn)


def losses(curves: Sequence[LossCurve]) -> Figure:
    """Figure 4a: the mean objective of the reply by sweep, a curve for each list, hit type and G."""
    shortlists = {curve.shortlist for curve in curves}
    lists = {curve.target_list for curve in curves}
    kinds = list(dict.fromkeys((curve.hit_type, curve.shortlist) for curve in curves))
    marks, ends = [], []
    for curve in curves[:MOST_CURVES]:
        style = STYLES[kinds.index((curve.hit_type, curve.shortlist)) % len(STYLES)]
        if len(lists) > 1:  # then the colour is that of the list, as on the page of the search
            style = dataclasses.replace(style, color=list_style(curve.target_list).color)
        name = f"{curve.target_list}, {curve.hit_type}" + (f", G = {curve.shortlist:,}" if len(shortlists) > 1 else "")
        marks.append(
            line(
                list(range(len(curve.values))),
                curve.values,
                name=name,
                style=style,
                marked="everywhere",
                hover="%{fullData.name}<br>sweep %{x}: %{y:.3f} nats",
            )
        )
        ends.append(f"{curve.values[0]:.2f} to {curve.values[-1]:.2f} ({name})")
    longest = max(len(curve.values) for curve in curves)
    more = f" The first {MOST_CURVES} of {len(curves)} are drawn." if len(curves) > MOST_CURVES else ""
    sentence = (
        f"The objective of the reply, by the best restart and on average over the targets of a list, fell from "
        f"{'; '.join(ends)} nats.{more}"
    )
    drawn = chart(
        marks,
        f"Lines by sweep. {sentence}",
        x={"title": "Sweep", "tickmode": "linear", "tick0": 0, "dtick": max(1, longest // 10)},
        y=FROM_ZERO | {"title": "Objective of the reply, nats"},
        showlegend=True,
    )
    return Figure("Objective by sweep", sentence, drawn)


def _reached(
    groups: Sequence[tuple[int, Sequence[EffortCell]]], across: Sequence[Sequence[float]], alt: str, x: Axis
) -> Chart:
    """The share of targets reached, at these places of the horizontal axis, a line for each G."""
    marks = [
        line(
            places,
            [cell.share for cell in own],
            name=_name(shortlist),
            style=style,
            marked="everywhere",
            hover=[
                f"{_name(shortlist)}, {counted(cell.restarts, 'restart')}: {cell.hits} of {cell.targets}, "
                f"{estimate_text(cell.share)}\n"
                f"{cell.candidates:,.0f} inputs tried and {duration_text(cell.seconds)} a target"
                for cell in own
            ],
        )
        for (shortlist, own), places, style in zip(groups, across, itertools.cycle(STYLES), strict=False)
    ]
    y = {"title": "Share of targets reached", "range": [-0.02, 1.02], "tickformat": ".0%"}
    return chart(marks, alt, x=x, y=y, showlegend=True)


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
