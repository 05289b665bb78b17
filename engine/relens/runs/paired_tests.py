"""Whether runs of a study differ on the same questions, question by question.

    the same 40 passages, given to two models      A finds the last word of 17, B of 25
                                                   A alone of 2, B alone of 10            p = 0.039, corrected 0.077

Two shares with overlapping intervals may well differ: the questions are the same, so the ones on which the runs
disagree decide (McNemar's test, see `relens.paired`). A question is identified by its text, so runs with different
passages or targets are compared on those that they share; undecided questions are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from relens.paired import SIGNIFICANT, PairedTest, holm, paired_test
from relens.record import Record
from relens.studies.cloze import PassageAnswers
from relens.studies.toxicity import InputAnswer
from relens.triggers.causal.rows import PromptTriggerRow
from relens.triggers.search.rows import TriggerRow

Row = Mapping[str, Any]
#: The variant, the question, and whether it was decided with yes.
Decided = tuple[str, Hashable, bool]


@dataclass(frozen=True)
class PairedDifference(Record):
    """Two runs, by their places, on the questions of one variant (`way`) that both decided.

    first_yes, second_yes: how many each decided with yes. corrected_p_value: for the number of comparisons (Holm).
    """

    way: str
    first: int
    second: int
    first_yes: int
    second_yes: int
    test: PairedTest
    corrected_p_value: float

    @property
    def is_significant(self) -> bool:
        """Whether the runs differ by more than chance explains."""
        return self.corrected_p_value < SIGNIFICANT


def paired_differences(kind: str, runs: Sequence[Iterable[Row]]) -> tuple[PairedDifference, ...]:
    """Every pair of these runs of a study, way by way; () for a kind whose questions are not decided by yes or no.

    runs: the rows that count, run by run. Ways in order of first appearance.
    """
    reader = _READERS.get(kind)
    if reader is None:
        return ()
    decided: list[dict[str, dict[Hashable, bool]]] = []
    for rows in runs:
        by_way: dict[str, dict[Hashable, bool]] = {}
        for way, question, is_yes in reader(rows):
            by_way.setdefault(way, {})[question] = is_yes
        decided.append(by_way)
    compared = []
    for way in dict.fromkeys(way for by_way in decided for way in by_way):
        for first, second in combinations(range(len(decided)), 2):
            one, other = decided[first].get(way, {}), decided[second].get(way, {})
            shared = [question for question in one if question in other]
            if shared:
                answers = [one[question] for question in shared], [other[question] for question in shared]
                compared.append((way, first, second, sum(answers[0]), sum(answers[1]), paired_test(*answers)))
    corrected = holm([test.p_value for *_, test in compared])
    return tuple(PairedDifference(*each, p_value) for each, p_value in zip(compared, corrected, strict=True))


def _passages(rows: Iterable[Row]) -> Iterator[Decided]:
    """Cloze: whether the last word of a passage was the first answer."""
    for row in PassageAnswers.all_in(rows):
        if row.is_decided:
            yield row.variant, (row.context, row.truth), row.right


def _sentences(rows: Iterable[Row]) -> Iterator[Decided]:
    """Toxicity: whether there is a match after the prompt."""
    for answer in InputAnswer.all_in(rows):
        if answer.mode == "prompted" and answer.found is not None:
            yield answer.variant, (answer.sentence, answer.position), answer.found


def _triggers(rows: Iterable[Row]) -> Iterator[Decided]:
    """Trigger search: whether the search for a target ended in a hit, by hit type."""
    for row in TriggerRow.all_in(rows):
        for hit_type, is_hit in row.score.hits.items():
            yield hit_type, row.target, is_hit


def _prompt_triggers(rows: Iterable[Row]) -> Iterator[Decided]:
    """Triggers in prompts: the same, for a target and a seed."""
    for row in PromptTriggerRow.all_in(rows):
        for hit_type, is_hit in row.score.hits.items():
            yield hit_type, (row.target, row.seed), is_hit


_READERS: dict[str, Callable[[Iterable[Row]], Iterator[Decided]]] = {
    "causal-triggers": _prompt_triggers,
    "cloze": _passages,
    "toxicity": _sentences,
    "triggers": _triggers,
}
