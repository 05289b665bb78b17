"""The figures of brute force: what a model can be made to say, list by list, and how it learned."""

from __future__ import annotations

import plotly.graph_objects as go

from app.charts import BLUE, INTERVAL_GREY, LEGEND, MARGINS, ORANGE, Chart, hatched, interval_bars
from app.narrative import duration_text
from app.studies.brute_force_tables import LIST_LABELS
from app.studies.dialogue_charts import running_mean
from app.studies.view import Figure, Rows
from app.text import as_plotly
from engine.studies.study import rows_of
from engine.triggers.brute_force.findings import ListHits
from engine.triggers.brute_force.study import STEP


def lists_figure(lines: tuple[ListHits, ...], is_begun: bool) -> Figure | None:
    """The share of each list that was said, as a whole and within a reply; None before anything was tried."""
    if not lines or not is_begun:
        return None
    figure = go.Figure()
    for name, shares, color, pattern in (
        ("said as a whole", [line.whole_share for line in lines], BLUE, ""),
        ("said, or within what was said", [line.parts_share for line in lines], ORANGE, "/"),
    ):
        figure.add_trace(
            go.Bar(
                x=[share.value for share in shares],
                y=[as_plotly(LIST_LABELS.get(line.list, line.list)) for line in lines],
                orientation="h",
                name=name,
                marker={"color": color, "pattern": hatched(pattern)},
                error_x=interval_bars(shares, color=INTERVAL_GREY, thickness=2),
                hovertemplate="%{y}: %{x:.2%}<extra></extra>",
            )
        )
    figure.update_yaxes(autorange="reversed", automargin=True, ticklabelstandoff=6)
    figure.update_xaxes(
        title="Share of the targets that some input makes it say", rangemode="tozero", tickformat=".2~%"
    )
    figure.update_layout(height=130 + 60 * len(lines), margin=MARGINS, barmode="group", legend=LEGEND, showlegend=True)
    told = ", ".join(f"{line.whole:,} of {line.targets:,} ({line.list})" for line in lines)
    sentence = f"Of the targets of each list, some input that was tried makes the model say {told}."
    return Figure("What it can be made to say", sentence, Chart(figure, f"Bars with intervals. {sentence}"))


def learning_figure(rows: Rows) -> Figure | None:
    """The loss of the training; None before its first steps."""
    steps = rows_of(rows, STEP)
    if not steps:
        return None
    figure = go.Figure(
        go.Scatter(
            x=[row["epoch"] - 1 + row["step"] / row["steps"] for row in steps],
            y=running_mean([float(row["loss"]) for row in steps]),
            mode="lines",
            line={"color": BLUE, "width": 2},
            hovertemplate="epoch %{x:.2f}: %{y:.2f} nats<extra></extra>",
        )
    )
    figure.update_xaxes(title="Epochs", rangemode="tozero")
    figure.update_yaxes(title="Nats a letter", rangemode="tozero")
    figure.update_layout(height=280, margin=MARGINS, showlegend=False)
    last = steps[-1]
    left = f", about {duration_text(last['seconds_left'])} left of the training" if last["seconds_left"] > 0 else ""
    sentence = f"Step {last['step']:,} of {last['steps']:,}: a letter of a reply costs {last['loss']:.2f} nats{left}."
    return Figure("Learning", sentence, Chart(figure, f"A line by epoch. {sentence}"))
