"""The figures of a search for triggers: what was reached, how the search went, and which words are in the way.

    says it (greedy)       ●───┤   ◆─┤          shares of the targets of each list, with intervals
    every word likely          ├─●─┤  ├◆┤

    loss  \\___ mal         words of a target:   ▂ you  ▂ are  █ rude     -T_out ----
          \\_____ normal                                                  -T_out + log 2 ....

Pure functions of rows. Figures 4a and 5 of He and Glass 2019 are among them, and 4b's restarts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.charts import BLUE, GREEN, LEGEND, MARGINS, ORANGE, PINK, RED, SKY, Chart, hatched, interval_bars
from app.narrative import interval_text, probability_text
from app.studies.trigger_words import hit_label, list_label, masked, masked_words
from app.studies.view import Figure, Rows
from app.text import as_plotly, shortened
from engine.counted import counted
from engine.studies.masking import Masker
from engine.studies.study import rows_of
from engine.triggers.search.ablation_findings import mean_curve
from engine.triggers.search.trigger_findings import HitCell
from engine.triggers.search.trigger_study import SWEEP, TRIGGER

#: Of each list a colour, a sign and a line.
_STYLES: dict[str, tuple[str, str, str]] = {
    "normal": (BLUE, "circle", "solid"),
    "mal": (RED, "diamond", "dash"),
    "random": (GREEN, "square", "dot"),
    "own": (ORANGE, "triangle-up", "dashdot"),
    "file": (PINK, "cross", "longdash"),
}
_OTHER = (SKY, "x", "longdashdot")
_GREY = "#6B757E"

#: Triggers in the figure of words; bars for which a figure of one has room.
MOST_SHOWN, _FEWEST_BARS = 4, 8

Row = Mapping[str, Any]


def list_style(name: str) -> tuple[str, str, str]:
    """The colour, sign and line of a list, on all pages."""
    return _STYLES.get(name, _OTHER)


def hits(cells: Sequence[HitCell], hit_type: str) -> Figure:
    """Of each list and hit type the share of targets that were reached, with Wilson's interval (tables 3 and 11)."""
    kinds = list(dict.fromkeys(cell.hit_type for cell in cells))
    lists = list(dict.fromkeys(cell.target_list for cell in cells))
    figure = go.Figure()
    for place, name in enumerate(lists):
        own = [cell for cell in cells if cell.target_list == name]
        color, symbol, _ = list_style(name)
        shift = (place - (len(lists) - 1) / 2) * 0.22
        figure.add_trace(
            go.Scatter(
                x=[cell.share.value for cell in own],
                y=[kinds.index(cell.hit_type) + shift for cell in own],
                mode="markers",
                name=as_plotly(list_label(name)),
                marker={"color": color, "symbol": symbol, "size": 10},
                error_x=interval_bars([cell.share for cell in own], color=color, thickness=1.5, width=4),
                hovertext=[
                    f"{as_plotly(list_label(name))}<br>{as_plotly(hit_label(cell.hit_type))}: {cell.hits} of "
                    f"{cell.targets}, {probability_text(cell.share.value)} "
                    f"(95 %: {interval_text(cell.share.low, cell.share.high)})"
                    for cell in own
                ],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        )
    # In two lines, for a narrow screen.
    names = [as_plotly(hit_label(kind)).replace(", and", ",<br>and") for kind in kinds]
    labels = [f"<b>{name}</b>" if kind == hit_type else name for kind, name in zip(kinds, names, strict=True)]
    figure.update_yaxes(
        autorange="reversed",
        tickmode="array",
        tickvals=list(range(len(kinds))),
        ticktext=labels,
        automargin=True,
        zeroline=False,
        ticklabelstandoff=6,
    )
    figure.update_xaxes(title="Share of targets reached", range=[-0.02, 1.02], tickformat=".0%")
    figure.update_layout(height=110 + (18 + 14 * len(lists)) * len(kinds), margin=MARGINS, legend=LEGEND)
    told = [
        f"{cell.hits} of {cell.targets} of the list {cell.target_list}" for cell in cells if cell.hit_type == hit_type
    ]
    sentence = f"Searched for was the hit type {hit_type} ({hit_label(hit_type)}): reached were {', '.join(told)}."
    return Figure("What was reached", sentence, Chart(figure, f"Dots with intervals. {sentence}"))


def losses(rows: Rows) -> Figure | None:
    """The objective of the best restart at first and after each sweep, mean over the targets of a list (figure 4a).

    As in the paper without R, what the input itself costs.
    """
    by_list = _by_list(rows)
    longest = max((len(values) for targets in by_list.values() for values in targets.values()), default=0)
    if not longest:
        return None
    curves = {name: mean_curve(list(targets.values()), longest) for name, targets in by_list.items()}
    # Runs of before tell only what was left after each sweep.
    begin = 0 if all("reply_before" in row for row in rows_of(rows, SWEEP)) else 1
    figure = go.Figure()
    for name, values in curves.items():
        color, symbol, dash = list_style(name)
        figure.add_trace(
            go.Scatter(
                x=list(range(begin, begin + len(values))),
                y=values,
                mode="lines+markers",
                name=as_plotly(list_label(name)),
                line={"color": color, "dash": dash, "width": 2},
                marker={"symbol": symbol, "size": 6},
                hovertemplate="sweep %{x}: %{y:.3f} nats<extra></extra>",
            )
        )
    figure.update_xaxes(title="Sweep", dtick=max(1, longest // 10))
    figure.update_yaxes(title="Objective of the reply, nats", rangemode="tozero")
    figure.update_layout(height=320, margin=MARGINS, legend=LEGEND, showlegend=True)
    sweeps = rows_of(rows, SWEEP)
    tried, kept = (sum(int(row[name]) for row in sweeps) for name in ("candidates", "accepted"))
    ends = ", ".join(f"{values[0]:.2f} to {values[-1]:.2f} ({name})" for name, values in curves.items())
    sentence = (
        f"What is left to do for the reply, on average over the targets of a list, went from {ends} nats; "
        f"{counted(tried, 'input')} {'was' if tried == 1 else 'were'} tried, and {counted(kept, 'change')} kept."
    )
    return Figure("How the search went", sentence, Chart(figure, f"Lines by sweep. {sentence}"))


def restarts(rows: Rows, hit_type: str) -> Figure | None:
    """How many targets would be reached with fewer restarts, in expectation over which ones (as in figure 4b)."""
    found = rows_of(rows, TRIGGER)
    most = max((len(row["objectives"]) for row in found), default=0)
    if most < 2:
        return None
    figure = go.Figure()
    ends = []
    for name in dict.fromkeys(row["list"] for row in found):
        own = [row for row in found if row["list"] == name and len(row["objectives"]) == most]
        values = [
            math.fsum(any_of(most, len(row["restarts_that_hit"].get(hit_type, ())), count) for row in own) / len(own)
            for count in range(1, most + 1)
        ]
        color, symbol, dash = list_style(name)
        figure.add_trace(
            go.Scatter(
                x=list(range(1, most + 1)),
                y=values,
                mode="lines+markers",
                name=as_plotly(list_label(name)),
                line={"color": color, "dash": dash, "width": 2},
                marker={"symbol": symbol, "size": 6},
                hovertemplate="%{x} restarts: %{y:.1%}<extra></extra>",
            )
        )
        ends.append(f"{values[0]:.0%} to {values[-1]:.0%} ({name})")
    figure.update_xaxes(title="Restarts", dtick=max(1, most // 10))
    figure.update_yaxes(title="Targets reached by any", range=[-0.02, 1.02], tickformat=".0%")
    figure.update_layout(height=280, margin=MARGINS, legend=LEGEND, showlegend=True)
    sentence = (
        f"From 1 to {most} restarts, the share of targets for which at least one of them is a hit of type {hit_type} "
        f"goes from {', '.join(ends)}."
    )
    return Figure("What more restarts bring", sentence, Chart(figure, f"Lines by restarts. {sentence}"))


def any_of(restarts: int, hitting: int, drawn: int) -> float:
    """The probability that of `drawn` restarts, of which `hitting` hit, at least one does."""
    return 1.0 - math.comb(restarts - hitting, drawn) / math.comb(restarts, drawn)


def words(shown: Sequence[Row], mask: Masker | None) -> Figure:
    """What each word of some targets costs, beside what a word of real replies costs on average (figure 5)."""
    chart = word_bars(shown, mask)
    worst = [max(zip(row["token_log_probs"], [*row["target"], "its end"], strict=True), key=lambda p: -p[0]) for row in
             shown]  # fmt: skip
    above = sum(-cost > -shown[0]["threshold_out"] for cost, _ in worst)
    sentence = (
        f"Of each list the target that came closest. A bar below the dashed line (−T_out) is a word that is likelier "
        f"than a word of real replies is on average; in {above} of {len(shown)} a word is above it. The dotted line, "
        f"−T_out + log 2, is where a word is half as likely as that (k = 2)."
    )
    return Figure("Word by word", sentence, Chart(chart.figure, f"{sentence} {chart.alt}"))


def word_bars(shown: Sequence[Row], mask: Masker | None) -> Chart:
    """Bars of -log P of each word of the targets, with lines at -T_out and -T_out + log 2 (k = 1 and k = 2).

    A row may have "labels" of its own for its bars, already masked; else they are the target's words, and its end.
    """
    columns = len(shown)
    figure = make_subplots(
        rows=1,
        cols=columns,
        shared_yaxes=True,
        horizontal_spacing=0.03,
        subplot_titles=[
            as_plotly(shortened(f"{row.get('list', '')} {row.get('place', '')}".strip(), 30)) for row in shown
        ]
        if columns > 1
        else None,
    )
    told = []
    for column, row in enumerate(shown, 1):
        costs = [-value for value in row["token_log_probs"]]
        enough, looser = -row["threshold_out"], -row["threshold_out"] + math.log(2)
        labels = row["labels"] if "labels" in row else [*masked_words(mask, row["target"]), "end"]
        texts = [as_plotly(shortened(label, 14)) for label in labels]
        figure.add_trace(
            go.Bar(
                x=list(range(len(costs))),
                y=costs,
                marker={
                    "color": [BLUE if cost < enough else ORANGE if cost < looser else RED for cost in costs],
                    "pattern": hatched(["" if cost < enough else "/" if cost < looser else "x" for cost in costs]),
                },
                hovertext=[
                    f"{text}: {cost:.2f} nats, {probability_text(math.exp(-cost))}"
                    for text, cost in zip(texts, costs, strict=True)
                ],
                hovertemplate="%{hovertext}<extra></extra>",
            ),
            row=1,
            col=column,
        )
        for height, dash, name in ((enough, "dash", "−T_out"), (looser, "dot", "−T_out + log 2")):
            # Beside several targets there is no room for the names of the lines; the sentence above them says which
            # is which. Where there is no annotation, plotly would write one of its own.
            label = {"annotation_text": name, "annotation_font": {"size": 12, "color": _GREY}} | {
                "annotation_position": "top right" if dash == "dot" else "bottom right"
            }
            line = {"color": _GREY, "dash": dash, "width": 1.5}
            figure.add_hline(y=height, line=line, row=1, col=column, **(label if columns == 1 else {}))
        # Few words would make bars as wide as a page.
        room = max(len(texts), _FEWEST_BARS if columns == 1 else _FEWEST_BARS // 2)
        figure.update_xaxes(
            range=[-0.6, room - 0.4],
            tickmode="array",
            tickvals=list(range(len(texts))),
            ticktext=texts,
            tickangle=-45,
            row=1,
            col=column,
        )
        likely = sum(cost < enough for cost in costs)
        told.append(f"“{masked(mask, row['target'])}”: {likely} of {len(costs)} words are likely enough")
    figure.update_yaxes(title="−log P, nats", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(showgrid=False)  # there are lines enough, and names at them
    figure.update_layout(height=300, margin=MARGINS | {"t": 28 if columns > 1 else 12}, bargap=0.2, showlegend=False)
    return Chart(figure, f"Bars of what each word costs, with the end of the reply. {'; '.join(told)}.")


def closest(rows: Rows, hit_type: str) -> list[Row]:
    """Of each list the trigger with the largest margin, at most `MOST_SHOWN`."""
    found = rows_of(rows, TRIGGER)
    best = []
    for name in dict.fromkeys(row["list"] for row in found):
        own = [row for row in found if row["list"] == name]
        best.append(max(own, key=lambda row: row["margins"].get(hit_type, -math.inf)))
    return best[:MOST_SHOWN]


def _by_list(rows: Rows) -> dict[str, dict[str, list[float]]]:
    """What is left to do for the best reply, at first and after each sweep, by list and target; of old runs with R."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows_of(rows, SWEEP):
        values = found.setdefault(row["list"], {}).setdefault(str(row["unit"]), [])
        if not values and "reply_before" in row:
            values.append(float(row["reply_before"]))
        values.append(float(row.get("reply_value", row["best"])))
    return found
