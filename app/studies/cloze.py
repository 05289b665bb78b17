"""The cloze test on its page: what it is, its figures, and its tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from app.narrative import interval_text, log_probability_text, probability_text
from app.setting_fields import all_fields
from app.studies.cloze_figures import accuracy_figure, answers_figure, comparison_figure, p_text, places_figure
from app.studies.cloze_settings import cloze_settings, work_sentence
from app.studies.view import Figure, Rows, StudyView, Table
from app.text import visible
from engine.counted import counted
from engine.runs.study_checks import Checked
from engine.studies.cloze import ANSWER, LABELS, ClozeStudy
from engine.studies.cloze_findings import ClozeFindings, Comparison, VariantResult, cloze_findings
from engine.studies.passages import can_be_an_answer
from engine.studies.rows import rows_of
from engine.studies.study import Study

#: Characters of a passage that are shown, counted from its end, which is where the answer is asked for.
_SHOWN = 160

_VARIANTS_HELP = {
    "Way of asking": "Which words may be the answer.",
    "Found": "Passages whose first answer is the last word.",
    "Passages": "Those that could be asked and answered.",
    "Share": "Found of passages. What is undecided counts as not found.",
    "95 %": "Were the passages drawn anew from where these come from, the true share would lie within such bounds in "
    "95 of 100 cases (Wilson's interval).",
    "Undecided": "The limit of expansions was reached before the first answer was certain.",
    "At most": "The share, were all undecided passages found.",
    "Listed": "Passages whose last word is among the answers, in whichever place.",
    "Not asked": "Passages that could not be asked this way, such as those beyond what the model can read.",
    "Not answerable": "Passages that end in a word that is not of plain letters, which no answer can be.",
    "Expansions": "How often the model was asked what comes next, on average for a passage, its context left out.",
}
_COMPARISONS_HELP = {
    "Passages": "Those that both ways decided.",
    "Only first": "Passages that only the first way has right.",
    "Only second": "Passages that only the second way has right.",
    "p": "How likely chance alone makes so uneven a split: McNemar's exact test, two-sided.",
    "p corrected": "The same, corrected for the number of comparisons in this table (Holm).",
    "Differ": "Whether the corrected p is below 0.05.",
}


class ClozeView(StudyView):
    """See `app.studies.view`."""

    kind = "cloze"
    introduction = (
        "The model reads passages without their last word and has to find it, asked in up to four ways that differ "
        "only in which answers count. The share of words found says how well it follows a story; the differences say "
        "how much of that is the way of asking."
    )
    notice = ""

    def settings(self, study: Study) -> Study:
        """See `StudyView`. Raises `QueryError` for a bad passage, with its line, and for too many of them."""
        with all_fields():
            return cloze_settings(study if isinstance(study, ClozeStudy) else ClozeStudy())

    def extent(self, study: Study, checked: Checked) -> str:
        """How much work the passages are, and how many of them cannot be answered."""
        assert isinstance(study, ClozeStudy)
        sentence = work_sentence(study, checked.counts["passages"])
        if impossible := checked.counts["unanswerable"]:
            sentence += (
                f" {counted(impossible, 'passage ends', 'passages end')} in a word that is not of plain letters alone."
                " No answer can be such a word, so these are left out of the shares."
            )
        return sentence

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """Shares found, pairs of ways, frequent answers, places of the truth."""
        findings = cloze_findings(rows)
        results = [result for result in findings.variants if result.asked]
        if not results:
            return []
        compared = _compared(findings)
        figures = [accuracy_figure(results)]
        if compared:
            figures.append(comparison_figure(compared))
        # Were all answers different, "most frequent" would mean nothing.
        if any(word.count > 1 for result in results for word in result.frequent):
            figures.append(answers_figure(results, findings.truths))
        return [*figures, places_figure(rows)]

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """One line a way, one line a pair of ways, one line a passage."""
        findings = cloze_findings(rows)
        if not findings.variants:
            return []
        tables = [Table("Ways of asking", _variants_table(findings.variants), _VARIANTS_HELP)]
        if compared := _compared(findings):
            tables.append(Table("Differences between ways", _comparisons_table(compared), _COMPARISONS_HELP))
        return [*tables, _examples_table(rows)]


def _compared(findings: ClozeFindings) -> list[Comparison]:
    return [each for each in findings.comparisons if each.test.pairs]


def _variants_table(results: Sequence[VariantResult]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Way of asking": [result.label for result in results],
            "Found": [result.right for result in results],
            "Passages": [result.asked for result in results],
            "Share": [probability_text(result.accuracy.value) for result in results],
            "95 %": [interval_text(result.accuracy.low, result.accuracy.high) for result in results],
            "Undecided": [result.undecided for result in results],
            "At most": [probability_text(result.at_most) for result in results],
            "Listed": [result.truth_listed for result in results],
            "Not asked": [result.errors for result in results],
            "Not answerable": [result.unanswerable for result in results],
            "Expansions": [round(result.expansions) for result in results],
        }
    )


def _comparisons_table(comparisons: Sequence[Comparison]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "First": [LABELS[each.first] for each in comparisons],
            "Second": [LABELS[each.second] for each in comparisons],
            "Passages": [each.test.pairs for each in comparisons],
            "Only first": [each.test.first_only for each in comparisons],
            "Only second": [each.test.second_only for each in comparisons],
            "p": [p_text(each.test.p_value) for each in comparisons],
            "p corrected": [p_text(each.corrected_p_value) for each in comparisons],
            "Differ": ["yes" if each.is_significant else "not certain" for each in comparisons],
        }
    )


def _examples_table(rows: Rows) -> Table:
    by_passage: dict[int, dict[str, Mapping[str, Any]]] = {}
    for row in rows_of(rows, ANSWER):
        by_passage.setdefault(row["passage"], {})[row["variant"]] = row
    asked = [by_passage[number] for number in sorted(by_passage)]
    any_rows = [next(iter(each.values())) for each in asked]
    columns: dict[str, list[Any]] = {
        "#": [row["passage"] + 1 for row in any_rows],
        "Passage": [_end(row["context"]) for row in any_rows],
        "Last word": [visible(row["truth"], spaces=False) for row in any_rows],
    }
    help = {
        "#": "The passage in its file.",
        "Passage": "The end of what the model reads.",
        "Last word": "The word that was to be found.",
    }
    for variant, label in LABELS.items():
        if any(variant in each for each in asked):
            columns[_capital(label)] = [_answers(each.get(variant)) for each in asked]
            columns[f"Place, {label}"] = [_place(each.get(variant)) for each in asked]
            help[_capital(label)] = (
                "The answers, the likeliest first, with the probability that the model gives the likeliest spelling of "
                "each after the passage; ✓ marks the right one."
            )
            help[f"Place, {label}"] = "Where the right word stands among these answers."
    return Table("Passages and answers", pd.DataFrame(columns), help)


def _answers(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return ""
    if row["error"]:
        return str(row["error"])
    if not row["answers"]:
        return "undecided" if row["cut"] else "no answer"
    return ", ".join(
        f"{'✓ ' if answer['word'] == row['truth'] else ''}{visible(answer['word'], spaces=False)}"
        f" {log_probability_text(_finite(answer['log_prob']))}"
        for answer in row["answers"]
    )


def _place(row: Mapping[str, Any] | None) -> str:
    if row is None or row["error"]:
        return ""
    if row["rank"] is None:
        return "–" if can_be_an_answer(str(row["truth"])) else "not answerable"
    return str(row["rank"])


def _finite(log_prob: float | None) -> float:
    return -math.inf if log_prob is None else log_prob


def _end(context: str) -> str:
    shown = visible(context[-_SHOWN:], spaces=False)
    return shown if len(context) <= _SHOWN else f"…{shown}"


def _capital(label: str) -> str:
    return label[:1].upper() + label[1:]


VIEW = ClozeView()
