"""Figures of one fact asked in three ways: the choices, the best answers of a pattern, and how they fall off.

     1  July 4, 1776            ▇▇▇▇▇▇▇▇▇▇▇▇
     2  January 1, 1733         ▇▇▇▇▇▇▇
     ...
    13  ✓ February 22, 1732     ▨▨▨            the truth, wherever it stands, with its place

Pure functions of the findings. The truth has a mark in its label and by hatching, not by its colour alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from relens.counted import counted
from relens.studies.knowledge import Choice, RankedAnswer
from relens.studies.knowledge_findings import KnowledgeFindings
from relens_dashboard.charts import BLUE, ORANGE, Chart, Style, bars, chart, dots, level, line, powers
from relens_dashboard.narrative import log_probability_text, probability_text
from relens_dashboard.studies.view import Figure
from relens_dashboard.text import shortened, visible

#: Matches that are drawn as bars; the truth is drawn besides where it is none of them.
SHOWN = 12
#: Nats below which a probability is no float.
_SMALLEST = -700.0


def choices_figure(findings: KnowledgeFindings) -> Figure:
    """The share of each choice among all of them, the likeliest first."""
    choices, chosen = findings.choices, findings.choices[0]
    answers = [(_label(choice), choice.share, probability_text(choice.share), choice.is_truth) for choice in choices]
    if chosen.is_truth:
        sentence = f"Among {len(choices)} choices the model prefers the right one, {_quoted(chosen.text)}."
    else:
        share = findings.true_choice.share if findings.true_choice else 0.0
        sentence = (
            f"Among {len(choices)} choices the model prefers {_quoted(chosen.text)}, which is wrong; the right"
            f" one has {probability_text(share)} of the probability."
        )
    drawn = _bars(answers, "the choices", {"title": "Share of the probability of all choices", "tickformat": ".0%"})
    return Figure("Multiple choice", sentence, drawn)


def matches_figure(findings: KnowledgeFindings) -> Figure:
    """The best matches of the structured query, and the truth at its place."""
    matches, ranking = findings.matches, findings.ranking
    answers = [
        (
            f"{match.rank:,} · {_label(match)}",
            math.exp(match.log_prob),
            log_probability_text(match.log_prob),
            match.is_truth,
        )
        for match in (*matches[:SHOWN], *(match for match in matches[SHOWN:] if match.is_truth))
    ]
    if ranking and ranking.rank is None:
        label = f"after {len(matches):,} · {_marked(findings.truth, True)}"
        answers.append((label, math.exp(ranking.log_prob), log_probability_text(ranking.log_prob), True))
    drawn = _bars(answers, "the best matches", {"title": "Probability after the prompt", "tickformat": "~g"})
    return Figure("Structured query", _ranking_sentence(findings), drawn)


def places_figure(findings: KnowledgeFindings) -> Figure:
    """The probability of every match over its rank, both in powers of ten, the truth marked."""
    matches, ranking = findings.matches, findings.ranking
    ranks, chances = [match.rank for match in matches], [math.exp(match.log_prob) for match in matches]
    hover = [f"{match.rank:,} · {_label(match)}" for match in matches]
    marks = [line(ranks, chances, name="answers", width=1.5, marked="everywhere", hover=hover)]
    truth = next((match for match in matches if match.is_truth), None)
    if truth is not None:
        star = Style(ORANGE, symbol="star")
        at = [truth.rank], [math.exp(truth.log_prob)]
        marks.append(dots(*at, name="the right one", style=star, size=14, hover="%{x}: the right one"))
    first, last = matches[0].log_prob, matches[-1].log_prob
    ends = [-0.05, math.log10(max(len(matches), 2)) + 0.05]
    # By default plotly writes every digit of a short axis, one over the other: here 1, 2 and 5.
    spacing = "D2" if first - last < math.log(100) else None
    drawn = chart(
        marks,
        f"Line from {log_probability_text(first)} in place 1 to {log_probability_text(last)} in place {len(matches)}.",
        x=powers(len(matches)) | {"title": "Rank of the answer", "range": ends},
        y={"title": "Probability", "type": "log", "tickformat": "~g", "exponentformat": "power", "dtick": spacing},
    )
    if truth is None and ranking and ranking.log_prob > _SMALLEST:
        level(drawn.figure, math.exp(ranking.log_prob), "the right one, not reached", place="top left")
    sentence = (
        f"The first answer is {_times(first - last)} as likely as the one in place {len(matches):,}. The steeper the "
        "line, the surer the model is of a few answers."
    )
    return Figure("Probability by rank", sentence, drawn)


def _times(log_ratio: float) -> str:
    """A ratio in words, by its natural logarithm: "6.4 times", "120,000 times", "about 10^17 times"."""
    if log_ratio > math.log(1e9):
        return f"about 10^{log_ratio / math.log(10):.0f} times"
    ratio = math.exp(log_ratio)
    return f"{ratio:.1f} times" if ratio < 100 else f"{float(f'{ratio:.2g}'):,.0f} times"


def _ranking_sentence(findings: KnowledgeFindings) -> str:
    ranking = findings.ranking
    if ranking is None:
        return f"{counted(len(findings.matches), 'answer')} so far, the likeliest first; the search goes on."
    of_all = f"Of {findings.answers_text} that the pattern allows"
    probability = log_probability_text(ranking.log_prob)
    if ranking.rank == 1:
        return f"{of_all}, the right one comes first, with a probability of {probability}."
    if ranking.rank and findings.best:
        return (
            f"{of_all}, the right one comes in place {ranking.rank:,}, with a probability of {probability};"
            f" {_quoted(findings.best.text)} comes first."
        )
    if not findings.matches:
        return f"The search ended before its first answer; the right one has a probability of {probability}."
    return (
        f"{of_all}, at least {len(findings.matches):,} come before the right one, whose probability is {probability};"
        " the search ended before it."
    )


def _bars(answers: Sequence[tuple[str, float, str, bool]], what: str, x: dict[str, Any]) -> Chart:
    """A bar for each (label, value, its text, whether it is the truth), the text beside it."""
    described = [f"{label} {text}" for label, _, text, _ in answers]
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
        f"Bars of {what}, ✓ the right one: {', '.join(described)}.",
        # A part is left free for the text beside the longest bar.
        x=x | {"range": [0.0, 1.3 * most if most else 1.0]},
        y_labels=[label for label, *_ in answers],
        row_height=28,
    )


def _label(answer: Choice | RankedAnswer) -> str:
    return _marked(answer.text, answer.is_truth)


def _marked(text: str, is_truth: bool) -> str:
    return f"{'✓ ' if is_truth else ''}{shortened(visible(text, spaces=False), 30)}"


def _quoted(text: str) -> str:
    return f"“{shortened(visible(text, spaces=False), 60)}”"
