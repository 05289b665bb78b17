"""Figures of one fact asked in three ways: the choices, the best answers of a pattern, and how they fall off.

     1  July 4, 1776            ▇▇▇▇▇▇▇▇▇▇▇▇
     2  January 1, 1733         ▇▇▇▇▇▇▇
     ...
    13  ✓ February 22, 1732     ▨▨▨            the truth, wherever it stands, with its place

Pure functions of rows. The truth is told by a mark in its label and by hatching, not by its colour alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from app.charts import BLUE, MARGINS, ORANGE, SKY, Chart, hatched
from app.narrative import log_probability_text, probability_text
from app.studies.view import Figure, Rows
from app.text import as_plotly, shortened, visible
from engine.counted import counted
from engine.studies.knowledge import CHOICE, MATCH, RANKING, KnowledgeFindings
from engine.studies.study import rows_of

#: Matches that are drawn as bars; the truth is drawn besides where it is none of them.
SHOWN = 12
#: Nats below which a probability is no float.
_SMALLEST = -700.0


def choices_figure(rows: Rows, findings: KnowledgeFindings) -> Figure:
    """The share of each choice among all of them, the likeliest first."""
    choices = sorted(rows_of(rows, CHOICE), key=lambda row: -row["share"])
    bars = [(_label(row), float(row["share"]), probability_text(row["share"]), row["is_truth"]) for row in choices]
    figure = _bars(bars, "Share of the probability of all choices")
    figure.update_xaxes(tickformat=".0%")
    told = ", ".join(f"{label} {text}" for label, _, text, _ in bars)
    if findings.chosen == findings.truth:
        said = f"Among {findings.choices} choices the model prefers the right one, {_quoted(findings.truth)}."
    else:
        said = (
            f"Among {findings.choices} choices the model prefers {_quoted(findings.chosen)}, which is wrong; the right"
            f" one has {probability_text(findings.truth_share or 0.0)} of the probability."
        )
    return Figure("Multiple choice", said, Chart(figure, f"Bars of the choices, ✓ the right one: {told}."))


def matches_figure(rows: Rows, findings: KnowledgeFindings) -> Figure:
    """The best matches of the structured query, and the truth at its place."""
    matches = sorted(rows_of(rows, MATCH), key=lambda row: row["rank"])
    shown = matches[:SHOWN] + [row for row in matches[SHOWN:] if row["is_truth"]]
    bars = [
        (
            f"{row['rank']:,} · {_label(row)}",
            math.exp(row["log_prob"]),
            log_probability_text(row["log_prob"]),
            bool(row["is_truth"]),
        )
        for row in shown
    ]
    ranking = ranking_of(rows)
    if ranking and ranking["rank"] is None:
        truth = _marked(findings.truth, True) if findings.truth is not None else "✓ the right one"
        chance = math.exp(ranking["log_prob"])
        bars.append((f"after {len(matches):,} · {truth}", chance, log_probability_text(ranking["log_prob"]), True))
    figure = _bars(bars, "Probability after the prompt")
    figure.update_xaxes(tickformat="~g")
    told = ", ".join(f"{label} {text}" for label, _, text, _ in bars)
    said = _ranking_sentence(ranking, findings, len(matches))
    return Figure("Structured query", said, Chart(figure, f"Bars of the best matches, ✓ the right one: {told}."))


def places_figure(rows: Rows) -> Figure:
    """The probability of every match over its place, both in powers of ten, the truth marked."""
    matches = sorted(rows_of(rows, MATCH), key=lambda row: row["rank"])
    figure = go.Figure(
        go.Scatter(
            x=[row["rank"] for row in matches],
            y=[math.exp(row["log_prob"]) for row in matches],
            name="answers",
            mode="lines+markers",
            line={"color": SKY, "width": 1.5},
            marker={"color": BLUE, "size": 5},
            hovertext=[f"{row['rank']:,} · {as_plotly(_label(row))}" for row in matches],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    ranking = ranking_of(rows)
    truth = next((row for row in matches if row["is_truth"]), None)
    if truth is not None:
        figure.add_trace(
            go.Scatter(
                x=[truth["rank"]],
                y=[math.exp(truth["log_prob"])],
                name="the right one",
                mode="markers",
                marker={"color": ORANGE, "size": 14, "symbol": "star", "line": {"width": 1, "color": "black"}},
                hovertemplate="%{x}: the right one<extra></extra>",
            )
        )
    elif ranking and ranking["log_prob"] > _SMALLEST:
        figure.add_hline(y=math.exp(ranking["log_prob"]), line={"color": ORANGE, "dash": "dash", "width": 2})
        figure.add_annotation(
            text="the right one, not reached",
            x=0,
            xref="paper",
            xanchor="left",
            y=ranking["log_prob"] / math.log(10),  # of a logarithmic axis, in powers of ten
            yanchor="bottom",
            showarrow=False,
        )
    ticks = [digit * 10**power for power in range(6) for digit in (1, 2, 5) if digit * 10**power <= len(matches)]
    figure.update_xaxes(title="Place", type="log", tickvals=ticks, ticktext=[f"{tick:,}" for tick in ticks])
    figure.update_xaxes(range=[-0.05, math.log10(max(len(matches), 2)) + 0.05])
    figure.update_yaxes(title="Probability", type="log", tickformat="~g", exponentformat="power")
    figure.update_layout(height=300, margin=MARGINS, showlegend=truth is not None)
    figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    first, last = matches[0]["log_prob"], matches[-1]["log_prob"]
    said = (
        f"The first answer is {_times(first - last)} as likely as the one in place {len(matches):,}: the steeper the "
        "line, the surer the model is of a few answers."
    )
    alt = f"Line from {log_probability_text(first)} in place 1 to {log_probability_text(last)} in place {len(matches)}."
    return Figure("How the answers fall off", said, Chart(figure, alt))


def _times(log_ratio: float) -> str:
    """A ratio in words, by its natural logarithm: "6.4 times", "120,000 times", "about 10^17 times"."""
    if log_ratio > math.log(1e9):
        return f"about 10^{log_ratio / math.log(10):.0f} times"
    ratio = math.exp(log_ratio)
    return f"{ratio:.1f} times" if ratio < 100 else f"{float(f'{ratio:.2g}'):,.0f} times"


def ranking_of(rows: Rows) -> Mapping[str, Any] | None:
    """The row that tells of the structured query as a whole, once it is there."""
    return next(reversed(rows_of(rows, RANKING)), None)


def _ranking_sentence(ranking: Mapping[str, Any] | None, findings: KnowledgeFindings, found: int) -> str:
    if ranking is None:
        return f"{counted(found, 'answer')} so far, the likeliest first; the search goes on."
    everything = f"all {findings.answers:,} answers" if findings.answers else "all answers"
    probability = log_probability_text(ranking["log_prob"])
    if findings.rank == 1:
        return (
            f"Of {everything} that the pattern allows, the right one comes first, with a probability of {probability}."
        )
    if findings.rank:
        return (
            f"Of {everything} that the pattern allows, the right one comes in place {findings.rank:,}, with a"
            f" probability of {probability}; {_quoted(findings.best)} comes first."
        )
    if not found:
        return f"The search ended before its first answer; the right one has a probability of {probability}."
    return (
        f"Of {everything} that the pattern allows, at least {found:,} come before the right one, whose probability is"
        f" {probability}; the search ended before it."
    )


def _bars(bars: Sequence[tuple[str, float, str, bool]], title: str) -> go.Figure:
    """Bars from the top: (label, value, its text, whether it is the truth). The text stands beside the bar."""
    labels = [as_plotly(label) for label, *_ in bars]
    texts = [text for _, _, text, _ in bars]
    places = list(range(len(bars)))
    figure = go.Figure(
        go.Bar(
            x=[value for _, value, _, _ in bars],
            y=places,
            orientation="h",
            marker={
                "color": [ORANGE if is_truth else BLUE for *_, is_truth in bars],
                "pattern": hatched(["/" if is_truth else "" for *_, is_truth in bars]),
            },
            text=texts,
            textposition="outside",
            cliponaxis=False,
            hovertext=[f"{label}: {text}" for label, text in zip(labels, texts, strict=True)],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    most = max([value for _, value, _, _ in bars], default=0.0)
    # A part is left free for the text beside the longest bar.
    figure.update_xaxes(title=title, range=[0.0, 1.3 * most if most else 1.0])
    figure.update_yaxes(autorange="reversed", tickvals=places, ticktext=labels, automargin=True, ticklabelstandoff=6)
    figure.update_layout(height=90 + 28 * len(bars), margin=MARGINS, bargap=0.3, showlegend=False)
    return figure


def _label(row: Mapping[str, Any]) -> str:
    return _marked(str(row["text"]), bool(row["is_truth"]))


def _marked(text: str, is_truth: bool) -> str:
    return f"{'✓ ' if is_truth else ''}{shortened(visible(text, spaces=False), 30)}"


def _quoted(text: str | None) -> str:
    return f"“{shortened(visible(text or '', spaces=False), 60)}”"
