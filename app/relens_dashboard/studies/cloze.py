"""The cloze test on its page: introduction, figures and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from relens.counted import counted
from relens.percent import p_text
from relens.runs.study_checks import Checked
from relens.studies.cloze import LABELS, ClozeStudy, PassageAnswers, Variant
from relens.studies.cloze_findings import ClozeFindings, Comparison, VariantResult
from relens.studies.passages import can_be_an_answer
from relens_dashboard.narrative import interval_text, log_probability_text, probability_text
from relens_dashboard.setting_fields import all_fields
from relens_dashboard.studies.cloze_figures import accuracy_figure, answers_figure, comparison_figure, ranks_figure
from relens_dashboard.studies.cloze_settings import cloze_settings, work_sentence
from relens_dashboard.studies.view import Figure, StudyView, Table
from relens_dashboard.text import visible

#: Characters of a passage that are shown, from its end, where the answer follows.
_SHOWN = 160

_VARIANTS_HELP = {
    "Variant": "Which words may be the answer.",
    "Found": "Passages whose first answer is the last word.",
    "Passages": "Without errors and unanswerable passages.",
    "Share": "Found of passages; an undecided passage counts as not found.",
    "95 %": "For other passages of this sort the share lies within such bounds in 95 of 100 cases (Wilson's interval).",
    "Undecided": "The search reached the limit of expansions before its first answer was certain.",
    "At most": "The share were all undecided passages found.",
    "Listed": "Passages whose last word is among the answers, at any rank.",
    "Errors": "Passages without a search, such as those longer than the model can read.",
    "Unanswerable": "Passages that end in a word that is not of plain letters, which no answer can be.",
    "Expansions": "How often the model computed the next token: the mean over passages, without their contexts.",
}
_COMPARISONS_HELP = {
    "Passages": "Decided by both variants.",
    "Only first": "Passages that only the first variant has right.",
    "Only second": "Passages that only the second variant has right.",
    "p": "The probability that chance alone makes so uneven a split: McNemar's exact test, two-sided.",
    "p corrected": "Corrected for the number of comparisons in this table (Holm).",
    "Differ": "Whether the corrected p is below 0.05.",
}


class ClozeView(StudyView[ClozeStudy, ClozeFindings]):
    """See `relens_dashboard.studies.view`."""

    kind = "cloze"
    introduction = (
        "The model reads passages without their last word and has to find it, under up to four variants of the query "
        "that differ only in which answers count. The share of words found says how well the model follows a story; "
        "the differences say how much of that depends on the query."
    )
    notice = ""

    def settings(self, study: ClozeStudy) -> ClozeStudy:
        """See `StudyView`. Raises `QueryError` for a bad passage, with its line, and for too many of them."""
        with all_fields():
            return cloze_settings(study)

    def extent(self, study: ClozeStudy, checked: Checked) -> str:
        """The number of passages, expansions and unanswerable passages."""
        sentence = work_sentence(study, checked.counts["passages"])
        if impossible := checked.counts["unanswerable"]:
            sentence += (
                f" {counted(impossible, 'passage ends', 'passages end')} in a word that is not of plain letters alone."
                " No answer can be such a word, so these are left out of the shares."
            )
        return sentence

    def figures(self, findings: ClozeFindings, study: ClozeStudy) -> list[Figure]:
        """Accuracies, pairs of variants, frequent answers, ranks of the truth."""
        results = [result for result in findings.variants if result.passages]
        if not results:
            return []
        figures = [accuracy_figure(results)]
        if compared := _compared(findings):
            figures.append(comparison_figure(compared))
        # Were all answers different, "most frequent" would mean nothing.
        if any(word.count > 1 for result in results for word in result.frequent):
            figures.append(answers_figure(results, findings.truths))
        return [*figures, ranks_figure(results)]

    def tables(self, findings: ClozeFindings, study: ClozeStudy) -> list[Table]:
        """One line a variant, one line a pair of variants, one line a passage."""
        if not findings.variants:
            return []
        tables = [Table("Variants", _variants_table(findings.variants), _VARIANTS_HELP)]
        if compared := _compared(findings):
            tables.append(Table("Differences between variants", _comparisons_table(compared), _COMPARISONS_HELP))
        return [*tables, _passages_table(findings)]


def _compared(findings: ClozeFindings) -> list[Comparison]:
    return [each for each in findings.comparisons if each.test.pairs]


def _variants_table(results: Sequence[VariantResult]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Variant": [result.label for result in results],
            "Found": [result.right for result in results],
            "Passages": [result.passages for result in results],
            "Share": [probability_text(result.accuracy.value) for result in results],
            "95 %": [interval_text(result.accuracy.low, result.accuracy.high) for result in results],
            "Undecided": [result.undecided for result in results],
            "At most": [probability_text(result.at_most) for result in results],
            "Listed": [result.truth_listed for result in results],
            "Errors": [result.errors for result in results],
            "Unanswerable": [result.unanswerable for result in results],
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


def _passages_table(findings: ClozeFindings) -> Table:
    any_rows = [next(iter(by_variant.values())) for by_variant in findings.passages]
    columns: dict[str, list[Any]] = {
        "#": [row.passage + 1 for row in any_rows],
        "Passage": [_end(row.context) for row in any_rows],
        "Last word": [visible(row.truth, spaces=False) for row in any_rows],
    }
    help = {
        "#": "The number of the passage in its file.",
        "Passage": "The end of the text before the last word.",
        "Last word": "The word to find.",
    }
    for result in findings.variants:
        label, rank = _capital(result.label), f"Rank, {result.label}"
        columns[label] = _column(findings.passages, result.variant, _answers)
        columns[rank] = _column(findings.passages, result.variant, _rank)
        help[label] = (
            "The answers, the likeliest first, each with the probability of its likeliest spelling after the passage; "
            "✓ marks the right one."
        )
        help[rank] = "The rank of the right word among these answers."
    return Table("Passages and answers", pd.DataFrame(columns), help)


def _column(
    passages: Sequence[Mapping[Variant, PassageAnswers]], variant: Variant, cell: Callable[[PassageAnswers], str]
) -> list[str]:
    """A cell for each passage, empty where the variant has no row yet."""
    return [cell(by_variant[variant]) if variant in by_variant else "" for by_variant in passages]


def _answers(row: PassageAnswers) -> str:
    if row.error:
        return row.error
    if not row.answers:
        return "undecided" if row.cut else "no answer"
    return ", ".join(
        f"{'✓ ' if answer.word == row.truth else ''}{visible(answer.word, spaces=False)}"
        f" {log_probability_text(answer.log_prob)}"
        for answer in row.answers
    )


def _rank(row: PassageAnswers) -> str:
    if row.error:
        return ""
    if row.rank is None:
        return "–" if can_be_an_answer(row.truth) else "unanswerable"
    return str(row.rank)


def _end(context: str) -> str:
    shown = visible(context[-_SHOWN:], spaces=False)
    return shown if len(context) <= _SHOWN else f"…{shown}"


def _capital(label: str) -> str:
    return label[:1].upper() + label[1:]


VIEW = ClozeView()
