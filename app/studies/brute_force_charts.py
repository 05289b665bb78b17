"""The figures of brute force: what a model can be made to say, list by list, and how it learned."""

from __future__ import annotations

from app.charts import FROM_ZERO, STYLES, bars, chart, line
from app.narrative import duration_text, estimate_text
from app.studies.brute_force_tables import LIST_LABELS
from app.studies.dialogue_charts import running_mean
from app.studies.view import Figure, Rows
from engine.studies.rows import rows_of
from engine.triggers.brute_force.findings import ListHits
from engine.triggers.brute_force.rows import STEP


def lists_figure(lines: tuple[ListHits, ...], is_begun: bool) -> Figure | None:
    """The share of each list that was said, as a whole and within a reply; None before anything was tried."""
    if not lines or not is_begun:
        return None
    labels = [LIST_LABELS.get(line.list, line.list) for line in lines]
    told = ", ".join(f"{line.whole:,} of {line.targets:,} ({line.list})" for line in lines)
    sentence = f"Targets that some input made the model say: {told}."
    series = (
        ("the whole reply", [line.whole_share for line in lines]),
        ("the whole reply, or a part of it", [line.parts_share for line in lines]),
    )
    drawn = chart(
        [
            bars(
                shares,
                name=name,
                style=style,
                hover=[f"{label}: {estimate_text(share)}" for label, share in zip(labels, shares, strict=True)],
            )
            for (name, shares), style in zip(series, STYLES, strict=False)
        ],
        f"Bars with intervals. {sentence}",
        x=FROM_ZERO | {"title": "Share of targets reached", "tickformat": ".2~%"},
        y_labels=labels,
        row_height=60,
    )
    return Figure("Targets reached", sentence, drawn)


def learning_figure(rows: Rows) -> Figure | None:
    """The loss of the training; None before its first steps."""
    steps = rows_of(rows, STEP)
    if not steps:
        return None
    last = steps[-1]
    left = f", about {duration_text(last['seconds_left'])} left of the training" if last["seconds_left"] > 0 else ""
    sentence = f"Step {last['step']:,} of {last['steps']:,}: a letter of a reply costs {last['loss']:.2f} nats{left}."
    drawn = chart(
        [
            line(
                [row["epoch"] - 1 + row["step"] / row["steps"] for row in steps],
                running_mean([float(row["loss"]) for row in steps]),
                hover="epoch %{x:.2f}: %{y:.2f} nats",
            )
        ],
        f"A line by epoch. {sentence}",
        x=FROM_ZERO | {"title": "Epochs"},
        y=FROM_ZERO | {"title": "Loss, nats a letter"},
    )
    return Figure("Training loss", sentence, drawn)
