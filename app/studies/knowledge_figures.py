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

from app.charts import BLUE, ORANGE, Chart, Style, bars, chart, dots, level, line, powers
from app.narrative import log_probability_text, probability_text
from app.studies.view import Figure, Rows
from app.text import shortened, visible
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
    answers = [(_label(row), float(row["share"]), probability_text(row["share"]), row["is_truth"]) for row in choices]
    if findings.chosen == findings.truth:
        said = f"Among {findings.choices} choices the model prefers the right one, {_quoted(findings.truth)}."
    else:
        said = (
            f"Among {findings.choices} choices the model prefers {_quoted(findings.chosen)}, which is wrong; the right"
            f" one has {probability_text(findings.truth_share or 0.0)} of the probability."
        )
    drawn = _bars(answers, "the choices", {"title": "Share of the probability of all choices", "tickformat": ".0%"})
    return Figure("Multiple choice", said, drawn)


def matches_figure(rows: Rows, findings: KnowledgeFindings) -> Figure:
    """The best matches of the structured query, and the truth at its place."""
    matches = sorted(rows_of(rows, MATCH), key=lambda row: row["rank"])
    shown = matches[:SHOWN] + [row for row in matches[SHOWN:] if row["is_truth"]]
    answers = [
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
        answers.append((f"after {len(matches):,} · {truth}", chance, log_probability_text(ranking["log_prob"]), True))
    drawn = _bars(answers, "the best matches", {"title": "Probability after the prompt", "tickformat": "~g"})
    return Figure("Structured query", _ranking_sentence(ranking, findings, len(matches)), drawn)


def places_figure(rows: Rows) -> Figure:
    """The probability of every match over its rank, both in powers of ten, the truth marked."""
    matches = sorted(rows_of(rows, MATCH), key=lambda row: row["rank"])
    ranks, chances = [row["rank"] for row in matches], [math.exp(row["log_prob"]) for row in matches]
    hover = [f"{row['rank']:,} · {_label(row)}" for row in matches]
    marks = [line(ranks, chances, name="answers", width=1.5, marked="everywhere", hover=hover)]
    ranking = ranking_of(rows)
    truth = next((row for row in matches if row["is_truth"]), None)
    if truth is not None:
        star = Style(ORANGE, symbol="star")
        at = [truth["rank"]], [math.exp(truth["log_prob"])]
        marks.append(dots(*at, name="the right one", style=star, size=14, hover="%{x}: the right one"))
    first, last = matches[0]["log_prob"], matches[-1]["log_prob"]
    ends = [-0.05, math.log10(max(len(matches), 2)) + 0.05]
    drawn = chart(
        marks,
        f"Line from {log_probability_text(first)} in place 1 to {log_probability_text(last)} in place {len(matches)}.",
        x=powers(len(matches)) | {"title": "Rank of the answer", "range": ends},
        y={"title": "Probability", "type": "log", "tickformat": "~g", "exponentformat": "power"},
    )
    if truth is None and ranking and ranking["log_prob"] > _SMALLEST:
        level(drawn.figure, math.exp(ranking["log_prob"]), "the right one, not reached", place="top left")
    said = (
        f"The first answer is {_times(first - last)} as likely as the one in place {len(matches):,}. The steeper the "
        "line, the surer the model is of a few answers."
    )
    return Figure("Probability by rank", said, drawn)


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


def _bars(answers: Sequence[tuple[str, float, str, bool]], what: str, x: dict[str, Any]) -> Chart:
    """A bar for each (label, value, its text, whether it is the truth), the text beside it."""
    told = [f"{label} {text}" for label, _, text, _ in answers]
    most = max([value for _, value, _, _ in answers], default=0.0)
    return chart(
        [
            bars(
                [value for _, value, _, _ in answers],
                style=[Style(ORANGE, "/") if is_truth else Style(BLUE) for *_, is_truth in answers],
                text=[text for _, _, text, _ in answers],
                hover=[f"{label}: {text}" for label, _, text, _ in answers],
            )
        ],
        f"Bars of {what}, ✓ the right one: {', '.join(told)}.",
        # A part is left free for the text beside the longest bar.
        x=x | {"range": [0.0, 1.3 * most if most else 1.0]},
        y_labels=[label for label, *_ in answers],
        row_height=28,
    )


def _label(row: Mapping[str, Any]) -> str:
    return _marked(str(row["text"]), bool(row["is_truth"]))


def _marked(text: str, is_truth: bool) -> str:
    return f"{'✓ ' if is_truth else ''}{shortened(visible(text, spaces=False), 30)}"


def _quoted(text: str | None) -> str:
    return f"“{shortened(visible(text or '', spaces=False), 60)}”"
