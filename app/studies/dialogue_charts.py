"""The figures of training a dialogue model: what a word still costs it, step by step, and how sure it is in the end.

nats a word  \\                  learning to answer           ──  training    ●  held-out text
              \\____●           learning what sentences are  - -
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from app.charts import FROM_ZERO, GREY, STYLES, Style, bars, chart, dots, line
from app.narrative import duration_text
from app.studies.view import Figure, Rows
from engine.studies.rows import rows_of
from engine.triggers.model.training_study import EPOCH, MODEL, REPLIES, SENTENCES, STEP

LABELS = {REPLIES: "answers", SENTENCES: "sentences"}


def learning(rows: Rows) -> Figure | None:
    """The loss by epoch, of both models, and on text that was not trained on."""
    steps, epochs = rows_of(rows, STEP), rows_of(rows, EPOCH)
    if not steps and not epochs:
        return None
    marks = []
    for (part, label), style in zip(LABELS.items(), STYLES, strict=False):
        own = [row for row in steps if row["part"] == part]
        if own:
            marks.append(
                line(
                    [row["epoch"] - 1 + row["step"] / row["steps"] for row in own],
                    running_mean([float(row["loss"]) for row in own]),
                    name=f"{label}, training",
                    style=style,
                    hover="epoch %{x:.2f}: %{y:.2f} nats a word",
                )
            )
        done = [row for row in epochs if row["part"] == part]
        if done:
            marks.append(
                dots(
                    [row["epoch"] for row in done],
                    [row["nll"] for row in done],
                    name=f"{label}, held out",
                    style=style,
                    size=11,
                    hover="after epoch %{x}: %{y:.2f} nats a word",
                )
            )
    sentence = _learning_sentence(steps, epochs)
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


def _learning_sentence(steps: Sequence[Mapping[str, Any]], epochs: Sequence[Mapping[str, Any]]) -> str:
    told = ["The lower the loss, the better the model predicts the next word."]
    if steps:
        last = steps[-1]
        what = "learns to answer" if last["part"] == REPLIES else "learns what sentences are like"
        told.append(
            f"Last seen, the model {what}: step {last['step']:,} of {last['steps']:,}, {last['loss']:.2f} nats a word, "
            f"{last['words_a_second']:,.0f} words a second"
            + (f", about {duration_text(last['seconds_left'])} left of this part." if last["seconds_left"] > 0 else ".")
        )
    for part, label in LABELS.items():
        done = [row for row in epochs if row["part"] == part]
        if done:
            told.append(f"On held-out text, {label} cost {done[-1]['nll']:.2f} nats a word.")
    return " ".join(told)


def certainty(rows: Rows) -> Figure | None:
    """The perplexities of the model, beside that of blind guessing."""
    found = rows_of(rows, MODEL)
    if not found:
        return None
    row = found[-1]
    values = (row["perplexity"], row["sentence_perplexity"], float(row["vocabulary"]))
    names = ("next word of an answer", "next word of a sentence", "a blind guess")
    sentence = (
        f"The next word of an answer is as uncertain as {values[0]:,.0f} equally likely words, the next word of a "
        f"sentence by itself as {values[1]:,.0f}. A blind guess is one of {values[2]:,.0f}."
    )
    drawn = chart(
        [
            bars(
                values,
                style=[*STYLES[:2], Style(GREY, ".")],
                text=[f"{value:,.0f}" for value in values],
                hover=[f"{name}: as among {value:,.0f} words" for name, value in zip(names, values, strict=True)],
            )
        ],
        f"Bars. {sentence}",
        x={"title": "Perplexity, in equally likely words", "range": [0.0, 1.15 * max(values)]},
        y_labels=names,
        row_height=48,
    )
    return Figure("Perplexity", sentence, drawn)


def one_in(log_prob: float) -> str:
    """An average log-probability of a word as "1 in 49"."""
    return f"1 in {math.exp(min(-log_prob, 700.0)):,.0f}"
