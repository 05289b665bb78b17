"""The figures of brute force: the share of each list that is reached, and the training.

normal: words of its training      ▇▇▇▇▇▇──┤        equal to a reply
                                   ▨▨▨▨▨▨▨▨▨──┤     within a reply
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relens.statistics import Estimate
from relens.triggers.brute_force.findings import ListHits
from relens.triggers.brute_force.rows import TrainingStep
from relens_dashboard.charts import FROM_ZERO, STYLES, Axis, bars, chart, line
from relens_dashboard.narrative import estimate_text
from relens_dashboard.studies.brute_force_tables import list_label
from relens_dashboard.studies.dialogue_charts import running_mean, time_left
from relens_dashboard.studies.view import Figure


def lists_figure(lists: Sequence[ListHits]) -> Figure:
    """The share of each list that is equal to a reply, or stands in one."""
    labels = [list_label(hits.list) for hits in lists]
    counts = ", ".join(f"{len(hits.whole):,} of {hits.targets:,} ({hits.list})" for hits in lists)
    sentence = f"Targets equal to the reply to some input: {counts}."
    series = {
        "equal to a reply": [hits.whole_share for hits in lists],
        "within a reply": [hits.parts_share for hits in lists],
    }
    x = FROM_ZERO | {"title": "Share of targets reached", "tickformat": ".2~%"}
    return shares_figure("Targets reached", sentence, labels, series, x)


def shares_figure(
    title: str, sentence: str, labels: Sequence[str], series: Mapping[str, Sequence[Estimate]], x: Axis
) -> Figure:
    """A bar with its interval for each label and series."""
    marks = [
        bars(
            shares,
            name=name,
            style=style,
            hover=[f"{label}: {estimate_text(share)}" for label, share in zip(labels, shares, strict=True)],
        )
        for (name, shares), style in zip(series.items(), STYLES, strict=False)
    ]
    return Figure(
        title, sentence, chart(marks, f"Bars with intervals. {sentence}", x=x, y_labels=labels, row_height=60)
    )


def training_figure(steps: Sequence[TrainingStep]) -> Figure:
    """The loss of the training by epoch."""
    last = steps[-1]
    sentence = f"Step {last.step:,} of {last.steps:,}: {last.loss:.2f} nats a letter{time_left(last)}."
    drawn = chart(
        [
            line(
                [step.epochs for step in steps],
                running_mean([step.loss for step in steps]),
                hover="epoch %{x:.2f}: %{y:.2f} nats",
            )
        ],
        f"A line by epoch. {sentence}",
        x=FROM_ZERO | {"title": "Epochs"},
        y=FROM_ZERO | {"title": "Loss, nats a letter"},
    )
    return Figure("Training loss", sentence, drawn)
