"""One fact asked in three ways on its page: the settings, the figures, and what the model wrote by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from app.glossary import term
from app.narrative import log_probability_text, probability_text
from app.setting_fields import SettingFields, all_fields
from app.studies.knowledge_figures import choices_figure, matches_figure, places_figure, ranking_of
from app.studies.view import Figure, Rows, StudyView, Table
from app.text import visible
from engine.studies.knowledge import (
    CHOICE,
    CONTINUATION,
    MATCH,
    KnowledgeFindings,
    KnowledgeStudy,
    contains_answer,
    knowledge_findings,
)
from engine.studies.study import Study, rows_of

#: What one may ask for on a page that others use too.
MOST_CHARACTERS, MOST_MATCHES, MOST_EXPANSIONS, MOST_CONTINUATION = 10_000, 10_000, 100_000, 256

_CHOICES_HELP = {
    "Choice": "✓ marks the right one.",
    "Share": "Of the probability of all choices together.",
    "Probability": "How likely the model is to go on with this after the prompt, whatever follows it.",
    "log P": term("log-probability"),
}
_MATCHES_HELP = {
    "Place": "By probability: no answer comes before one that beats it.",
    "Answer": "A string of the pattern; ✓ marks the right one.",
    "Probability": _CHOICES_HELP["Probability"],
    "log P": _CHOICES_HELP["log P"],
}
_FREE_HELP = {
    "The model goes on": "The likeliest token at each step, after the prompt.",
    "Right answer in it": "Whether the right answer stands in it in these very words.",
    "Wrong answers in it": "Those of the other choices that stand in it.",
    "Tokens": "How many tokens it wrote.",
}
_WAYS_HELP = {
    "Way": "How the question is put.",
    "What comes first": "The answer that the model prefers when it is asked this way.",
    "Right": "Whether that is the right one.",
    "What it tells": "What this way can show and what not.",
}


class KnowledgeView(StudyView):
    """See `app.studies.view`."""

    kind = "knowledge"
    introduction = (
        "The model is asked one question in three ways: to choose among a few answers, to go on writing freely, and to "
        "rank every answer that a pattern allows. Choosing is easy, since the answer is shown; free writing is hard to "
        "judge; the place of the right answer among all possible ones says what the model knows by itself."
    )
    notice = ""

    def settings(self, study: Study) -> Study:
        """See `StudyView`."""
        with all_fields():
            return _settings(study if isinstance(study, KnowledgeStudy) else KnowledgeStudy())

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """The structured query, the choices, and how the probability of the answers falls off."""
        findings = _findings(rows, study)
        figures = []
        matches = rows_of(rows, MATCH)
        if matches or ranking_of(rows):
            figures.append(matches_figure(rows, findings))
        if findings.choices:
            figures.append(choices_figure(rows, findings))
        if len(matches) > 1:
            figures.append(places_figure(rows))
        return figures

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """The three ways side by side, the free response, the choices, the matches of the structured query."""
        findings = _findings(rows, study)
        tables = [_ways_table(findings)] if _ways(findings) else []
        for row in rows_of(rows, CONTINUATION):
            tables.append(_free_table(row["text"], row["tokens"], row["has_truth"], _distractors(rows, study)))
        if choices := sorted(rows_of(rows, CHOICE), key=lambda row: -row["share"]):
            tables.append(_choices_table(choices))
        if matches := sorted(rows_of(rows, MATCH), key=lambda row: row["rank"]):
            tables.append(_matches_table(matches))
        return tables


def _findings(rows: Rows, study: Study) -> KnowledgeFindings:
    """The findings of the rows; the truth is that of the study where no row of a choice has told it yet."""
    findings = knowledge_findings(rows)
    if findings.truth is None and isinstance(study, KnowledgeStudy):
        return KnowledgeFindings(**(vars(findings) | {"truth": study.truth}))
    return findings


def _distractors(rows: Rows, study: Study) -> list[str]:
    told = [str(row["text"]) for row in rows_of(rows, CHOICE) if not row["is_truth"]]
    return told or (list(study.distractors) if isinstance(study, KnowledgeStudy) else [])


def _ways(findings: KnowledgeFindings) -> list[tuple[str, str, str, str]]:
    """(way, what comes first, whether it is right, what it tells) of each way that was gone."""
    ways = []
    if findings.chosen is not None:
        right = "yes" if findings.chosen == findings.truth else "no"
        told = f"It had only {findings.choices} answers to choose from, and these were shown to it."
        ways.append(("Multiple choice", findings.chosen, right, told))
    if findings.continuation is not None:
        right = "yes" if findings.has_truth else "not in these words"
        ways.append(("Free response", findings.continuation.strip(), right, "The answer may take any form, or none."))
    if findings.best is not None:
        right = "yes" if findings.best == findings.truth else "no"
        if findings.rank:
            told = f"The right one comes in place {findings.rank:,}."
        elif findings.rank_at_least:
            told = f"The right one comes in place {findings.rank_at_least:,} at the earliest."
        else:
            told = "The place of the right one is still being looked for."
        ways.append(("Structured query", findings.best, right, told))
    return ways


def _ways_table(findings: KnowledgeFindings) -> Table:
    ways = [(way, visible(first, spaces=False), right, told) for way, first, right, told in _ways(findings)]
    return Table("One question, three ways", pd.DataFrame(ways, columns=list(_WAYS_HELP)), _WAYS_HELP)


def _free_table(text: str, tokens: int, has_truth: bool, distractors: Sequence[str]) -> Table:
    wrong = [visible(answer, spaces=False) for answer in distractors if contains_answer(text, answer)]
    line = {
        "The model goes on": visible(text.strip(" "), spaces=False),
        "Right answer in it": "yes" if has_truth else "not in these words",
        "Wrong answers in it": " · ".join(wrong) or "none",
        "Tokens": tokens,
    }
    return Table("Free response", pd.DataFrame([line]), _FREE_HELP)


def _choices_table(choices: Sequence[Any]) -> Table:
    table = {
        "Choice": [_marked(row) for row in choices],
        "Share": [probability_text(row["share"]) for row in choices],
        **_probabilities(choices),
    }
    return Table("Choices", pd.DataFrame(table), _CHOICES_HELP)


def _matches_table(matches: Sequence[Any]) -> Table:
    table = {
        "Place": [row["rank"] for row in matches],
        "Answer": [_marked(row) for row in matches],
        **_probabilities(matches),
    }
    return Table("Answers of the structured query", pd.DataFrame(table), _MATCHES_HELP)


def _probabilities(rows: Sequence[Any]) -> dict[str, list[Any]]:
    return {
        "Probability": [log_probability_text(row["log_prob"]) for row in rows],
        "log P": [round(row["log_prob"], 4) if math.isfinite(row["log_prob"]) else None for row in rows],
    }


def _marked(row: Any) -> str:
    return f"{'✓ ' if row['is_truth'] else ''}{visible(row['text'], spaces=False)}"


def _settings(study: KnowledgeStudy) -> KnowledgeStudy:
    """Draw the widgets, and return what they hold."""
    fields = SettingFields(study, "knowledge")
    left, right = st.columns([5, 4], gap="medium")
    with left:
        fields.draw("prompt", widget="text_area", max_chars=MOST_CHARACTERS, height=68)
        truth = fields.draw("truth", max_chars=MOST_CHARACTERS)
        distractors = fields.draw("distractors", max_chars=MOST_CHARACTERS, height=116)
    with right:
        fields.draw("pattern", max_chars=MOST_CHARACTERS)
        fields.row("matches", "expansions")
        fields.row("continuation", widths=[1, 1])
    return fields.record(truth=truth.strip(), distractors=tuple(dict.fromkeys(distractors)))


VIEW = KnowledgeView()
