"""The figures of training a dialogue model: what a word still costs it, step by step, and how sure it is in the end.

nats a word  \\                  learning to answer           ──  training    ●  text it has not seen
              \\____●           learning what sentences are  - -
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from app.charts import BLUE, LEGEND, MARGINS, ORANGE, Chart, hatched
from app.narrative import duration_text
from app.studies.view import Figure, Rows
from engine.studies.study import rows_of
from engine.triggers.model.training_study import EPOCH, MODEL, REPLIES, SENTENCES, STEP

LABELS = {REPLIES: "answers", SENTENCES: "sentences"}
_STYLES = {REPLIES: (BLUE, "solid", "circle"), SENTENCES: (ORANGE, "dash", "diamond")}


def learning(rows: Rows) -> Figure | None:
    """The loss by epoch, of both models, and on text that was not trained on."""
    steps, epochs = rows_of(rows, STEP), rows_of(rows, EPOCH)
    if not steps and not epochs:
        return None
    figure = go.Figure()
    for part, label in LABELS.items():
        color, dash, symbol = _STYLES[part]
        own = [row for row in steps if row["part"] == part]
        if own:
            figure.add_trace(
                go.Scatter(
                    x=[row["epoch"] - 1 + row["step"] / row["steps"] for row in own],
                    y=running_mean([float(row["loss"]) for row in own]),
                    mode="lines",
                    name=f"{label}, training",
                    line={"color": color, "dash": dash, "width": 2},
                    hovertemplate="epoch %{x:.2f}: %{y:.2f} nats a word<extra></extra>",
                )
            )
        done = [row for row in epochs if row["part"] == part]
        if done:
            figure.add_trace(
                go.Scatter(
                    x=[row["epoch"] for row in done],
                    y=[row["nll"] for row in done],
                    mode="markers",
                    name=f"{label}, text it has not seen",
                    marker={"color": color, "symbol": symbol, "size": 11, "line": {"color": "#fff", "width": 1}},
                    hovertemplate="after epoch %{x}: %{y:.2f} nats a word<extra></extra>",
                )
            )
    figure.update_xaxes(title="Epochs", rangemode="tozero")
    figure.update_yaxes(title="Nats a word")
    figure.update_layout(height=340, margin=MARGINS, legend=LEGEND, showlegend=True)
    sentence = _learning_sentence(steps, epochs)
    return Figure("Learning", sentence, Chart(figure, f"Lines by epoch. {sentence}"))


def running_mean(values: Sequence[float], width: int = 9) -> list[float]:
    """The mean of each value and those before it, at most `width`: batches of long and of short replies differ."""
    return [
        math.fsum(values[max(0, place - width + 1) : place + 1]) / min(width, place + 1) for place in range(len(values))
    ]


def _learning_sentence(steps: Sequence[Mapping[str, Any]], epochs: Sequence[Mapping[str, Any]]) -> str:
    told = ["The lower, the better it guesses the next word."]
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
            told.append(f"On text it has not seen, {label} cost {done[-1]['nll']:.2f} nats a word.")
    return " ".join(told)


def certainty(rows: Rows) -> Figure | None:
    """The perplexities of the model, beside that of blind guessing."""
    found = rows_of(rows, MODEL)
    if not found:
        return None
    row = found[-1]
    names = ("next word of an answer", "next word of a sentence", "a blind guess")
    values = (row["perplexity"], row["sentence_perplexity"], float(row["vocabulary"]))
    figure = go.Figure(
        go.Bar(
            x=list(values),
            y=list(names),
            orientation="h",
            marker={"color": [BLUE, ORANGE, "#8A939B"], "pattern": hatched(["", "/", "."])},
            text=[f"{value:,.0f}" for value in values],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: as among %{x:,.0f} words<extra></extra>",
        )
    )
    figure.update_yaxes(autorange="reversed", automargin=True, ticklabelstandoff=6)
    figure.update_xaxes(title="As uncertain as among so many equally likely words (perplexity)", rangemode="tozero")
    figure.update_layout(height=210, margin=MARGINS | {"r": 48}, bargap=0.3, showlegend=False)
    sentence = (
        f"Of the next word of an answer the model is as uncertain as among {values[0]:,.0f} equally likely ones, of "
        f"the next word of a sentence by itself as among {values[1]:,.0f}; it knows {values[2]:,.0f} words."
    )
    return Figure("How sure it is", sentence, Chart(figure, f"Bars. {sentence}"))


def one_in(log_prob: float) -> str:
    """An average log-probability of a word as "1 in 49"."""
    return f"1 in {math.exp(min(-log_prob, 700.0)):,.0f}"
