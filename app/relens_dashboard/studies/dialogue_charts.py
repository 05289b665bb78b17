"""The figures of training a dialogue model: its loss by step and epoch, and its perplexities.

nats a word  \\                  replies           ──  training    ●  held-out text
              \\____●           sentences         - -
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from relens.triggers.model.training_findings import TrainingFindings
from relens.triggers.model.training_rows import REPLIES, SENTENCES, Part, TrainedModel, TrainingProgress
from relens_dashboard.charts import FROM_ZERO, GREY, STYLES, Style, bars, chart, dots, line
from relens_dashboard.narrative import duration_text
from relens_dashboard.studies.view import Figure

LABELS: dict[Part, str] = {REPLIES: "replies", SENTENCES: "sentences"}


def loss_figure(findings: TrainingFindings) -> Figure:
    """The loss of both parts by epoch, of the training and on held-out text."""
    marks = []
    for (part, label), style in zip(LABELS.items(), STYLES, strict=False):
        if steps := findings.steps_of(part):
            marks.append(
                line(
                    [step.epochs for step in steps],
                    running_mean([step.loss for step in steps]),
                    name=f"{label}, training",
                    style=style,
                    hover="epoch %{x:.2f}: %{y:.2f} nats a word",
                )
            )
        if epochs := findings.epochs_of(part):
            marks.append(
                dots(
                    [epoch.epoch for epoch in epochs],
                    [epoch.nll for epoch in epochs],
                    name=f"{label}, held out",
                    style=style,
                    size=11,
                    hover="after epoch %{x}: %{y:.2f} nats a word",
                )
            )
    sentence = " ".join(_loss_sentences(findings))
    drawn = chart(
        marks,
        f"Lines by epoch. {sentence}",
        x=FROM_ZERO | {"title": "Epochs"},
        y={"title": "Loss, nats a word"},
        showlegend=True,
    )
    return Figure("Training loss", sentence, drawn)


def running_mean(values: Sequence[float], width: int = 9) -> list[float]:
    """The mean of each value and those before it, at most `width`: batches of long and of short replies differ."""
    return [
        math.fsum(values[max(0, place - width + 1) : place + 1]) / min(width, place + 1) for place in range(len(values))
    ]


def time_left(progress: TrainingProgress) -> str:
    """The end of a sentence: ", about 2 min left", "" at the end of training."""
    return f", about {duration_text(progress.seconds_left)} left" if progress.seconds_left > 0 else ""


def _loss_sentences(findings: TrainingFindings) -> Iterator[str]:
    if findings.steps:
        last = findings.steps[-1]
        yield (
            f"Step {last.step:,} of {last.steps:,} ({LABELS[last.part]}): {last.loss:.2f} nats a word,"
            f" {last.words_a_second:,.0f} words a second{time_left(last)}."
        )
    for part, label in LABELS.items():
        if epochs := findings.epochs_of(part):
            yield f"Held-out {label}: {epochs[-1].nll:.2f} nats a word."
    yield "Lower is better."


def perplexity_figure(model: TrainedModel) -> Figure:
    """The perplexities of both parts, and that of a uniform guess."""
    values = (model.perplexity, model.sentence_perplexity, float(model.vocabulary))
    names = ("next word of a reply", "next word of a sentence", "uniform guess")
    sentence = (
        f"{values[0]:,.0f} for the next word of a reply, {values[1]:,.0f} for that of a sentence by itself, and"
        f" {values[2]:,.0f} for a uniform guess: so many equally likely words are as hard to predict."
    )
    drawn = chart(
        [
            bars(
                values,
                style=[*STYLES[:2], Style(GREY, ".")],
                text=[f"{value:,.0f}" for value in values],
                hover=[f"{name}: perplexity {value:,.0f}" for name, value in zip(names, values, strict=True)],
            )
        ],
        f"Bars. {sentence}",
        x={"title": "Perplexity, in equally likely words", "range": [0.0, 1.15 * max(values)]},
        y_labels=names,
        row_height=48,
    )
    return Figure("Perplexity", sentence, drawn)
