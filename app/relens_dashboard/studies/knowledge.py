"""One fact asked in three ways on its page: the settings, the figures, and what the model wrote by itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from relens.studies.knowledge import Choice, Continuation, KnowledgeStudy, RankedAnswer, contains_answer
from relens.studies.knowledge_findings import KnowledgeFindings
from relens_dashboard.glossary import term
from relens_dashboard.narrative import log_probability_text, probability_text
from relens_dashboard.setting_fields import SettingFields, all_fields
from relens_dashboard.studies.knowledge_figures import choices_figure, matches_figure, places_figure
from relens_dashboard.studies.view import Figure, StudyView, Table
from relens_dashboard.text import visible

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


class KnowledgeView(StudyView[KnowledgeStudy, KnowledgeFindings]):
    """See `relens_dashboard.studies.view`."""

    kind = "knowledge"
    introduction = (
        "The model is asked one question in three ways: to choose among a few answers, to go on writing freely, and to "
        "rank every answer that a pattern allows. Choosing is easy, since the answer is shown; free writing is hard to "
        "judge; the place of the right answer among all possible ones says what the model knows by itself."
    )
    notice = ""

    def settings(self, study: KnowledgeStudy) -> KnowledgeStudy:
        """See `StudyView`."""
        with all_fields():
            return _settings(study)

    def figures(self, findings: KnowledgeFindings, study: KnowledgeStudy) -> list[Figure]:
        """The structured query, the choices, and how the probability of the answers falls off."""
        figures = []
        if findings.matches or findings.ranking:
            figures.append(matches_figure(findings))
        if findings.choices:
            figures.append(choices_figure(findings))
        if len(findings.matches) > 1:
            figures.append(places_figure(findings))
        return figures

    def tables(self, findings: KnowledgeFindings, study: KnowledgeStudy) -> list[Table]:
        """The three ways side by side, the free response, the choices, the matches of the structured query."""
        tables = []
        if ways := list(_ways(findings)):
            frame = pd.DataFrame(ways, columns=list(_WAYS_HELP))
            tables.append(Table("One question, three ways", frame, _WAYS_HELP))
        if findings.continuation:
            tables.append(_free_table(findings.continuation, findings.distractors))
        if findings.choices:
            tables.append(_choices_table(findings.choices))
        if findings.matches:
            tables.append(_matches_table(findings.matches))
        return tables


def _ways(findings: KnowledgeFindings) -> Iterator[tuple[str, str, str, str]]:
    """(way, its first answer, whether it is right, what the way shows) of each way that is done."""
    if chosen := findings.chosen:
        comment = f"It had only {len(findings.choices)} answers to choose from, and these were shown to it."
        yield "Multiple choice", _shown(chosen.text), "yes" if chosen.is_truth else "no", comment
    if free := findings.continuation:
        right = "yes" if free.has_truth else "not in these words"
        yield "Free response", _shown(free.text.strip()), right, "The answer may take any form, or none."
    if best := findings.best:
        if findings.ranking is None:
            comment = "The search for the right one goes on."
        elif findings.ranking.rank:
            comment = f"The right one comes in place {findings.ranking.rank:,}."
        else:
            comment = f"The right one comes in place {findings.rank_at_least:,} at the earliest."
        yield "Structured query", _shown(best.text), "yes" if best.is_truth else "no", comment


def _free_table(free: Continuation, distractors: Sequence[str]) -> Table:
    wrong = [_shown(answer) for answer in distractors if contains_answer(free.text, answer)]
    line = {
        "The model goes on": _shown(free.text.strip(" ")),
        "Right answer in it": "yes" if free.has_truth else "not in these words",
        "Wrong answers in it": " · ".join(wrong) or "none",
        "Tokens": free.tokens,
    }
    return Table("Free response", pd.DataFrame([line]), _FREE_HELP)


def _choices_table(choices: Sequence[Choice]) -> Table:
    table = {
        "Choice": [_marked(choice) for choice in choices],
        "Share": [probability_text(choice.share) for choice in choices],
        **_probabilities(choices),
    }
    return Table("Choices", pd.DataFrame(table), _CHOICES_HELP)


def _matches_table(matches: Sequence[RankedAnswer]) -> Table:
    table = {
        "Place": [match.rank for match in matches],
        "Answer": [_marked(match) for match in matches],
        **_probabilities(matches),
    }
    return Table("Answers of the structured query", pd.DataFrame(table), _MATCHES_HELP)


def _probabilities(answers: Sequence[Choice | RankedAnswer]) -> dict[str, list[Any]]:
    return {
        "Probability": [log_probability_text(answer.log_prob) for answer in answers],
        "log P": [round(answer.log_prob, 4) if math.isfinite(answer.log_prob) else None for answer in answers],
    }


def _marked(answer: Choice | RankedAnswer) -> str:
    return f"{'✓ ' if answer.is_truth else ''}{_shown(answer.text)}"


def _shown(text: str) -> str:
    return visible(text, spaces=False)


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
