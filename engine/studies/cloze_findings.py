"""What the rows of a cloze test say: accuracies, whether the variants differ, and a verdict in sentences.

    words of the context    16 of 20 right    80 %   (58 to 92)
    any word                 9 of 20 right    45 %   (26 to 66)
    only the first right 7, only the second 0         p = 0.016, corrected for the number of comparisons 0.047

A passage whose search was cut before its first match was certain is undecided. It is not right, and it is not known to
be wrong: an accuracy is told together with what it would be were all of these right, and a comparison of two variants
leaves out what is undecided in either. A passage that could not be asked has an error and counts nowhere.

Answers are words of plain letters, so a passage that ends in "1969" or "don't" cannot be answered, however well the
model reads it. It is left out, and counted apart; the paper counts it as not found, and the verdict says both. (Of the
5,153 passages of LAMBADA's test set there are two.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from engine.counted import counted
from engine.paired import SIGNIFICANT, PairedTest, holm, paired_test, proportion
from engine.percent import percent
from engine.record import Record
from engine.statistics import Estimate
from engine.studies.cloze import ANSWER, LABELS, VARIANTS
from engine.studies.passages import can_be_an_answer
from engine.studies.rows import rows_of
from engine.studies.study import Study

#: How many of the most frequent answers are told.
FREQUENT = 5
#: Characters of a word of a passage that are told.
LONGEST_SHOWN = 30

Rows = Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class WordShare(Record):
    """A word, how often it is the answer (or the truth), and its share of all of these."""

    word: str
    count: int
    share: float


@dataclass(frozen=True)
class VariantResult(Record):
    """One variant over its passages.

    asked: passages, those left out that have an error or cannot be answered (unanswerable: how many are of the latter);
    undecided: cut before the first match was certain. accuracy: right of asked, with Wilson's interval; at_most: were
    all undecided ones right. truth_listed: passages whose truth is among the answers that were found. frequent: the
    most frequent first answers; frequent_share: of these together. expansions: on average, those of the context left
    out.
    """

    variant: str
    label: str
    asked: int
    right: int
    undecided: int
    errors: int
    accuracy: Estimate
    at_most: float
    truth_listed: int
    frequent: tuple[WordShare, ...]
    frequent_share: float
    expansions: float
    unanswerable: int = 0

    @property
    def strict_share(self) -> float:
        """The right ones of all that were asked, as the paper counts: what cannot be answered was not found."""
        everything = self.asked + self.unanswerable
        return self.right / everything if everything else 0.0


@dataclass(frozen=True)
class Comparison(Record):
    """Two variants on the passages that both decided. corrected_p_value: for the number of comparisons (Holm)."""

    first: str
    second: str
    test: PairedTest
    corrected_p_value: float

    @property
    def is_significant(self) -> bool:
        """Whether the variants differ by more than chance explains."""
        return self.corrected_p_value < SIGNIFICANT


@dataclass(frozen=True)
class Example(Record):
    """One passage: its answers by variant, best first (none where undecided), and where the truth ranks in them."""

    passage: int
    context: str
    truth: str
    answers: dict[str, tuple[str, ...]]
    ranks: dict[str, int | None]
    undecided: tuple[str, ...]


@dataclass(frozen=True)
class ClozeFindings(Record):
    """All that the rows say. truths: the most frequent last words, to hold against the frequent answers."""

    variants: tuple[VariantResult, ...]
    comparisons: tuple[Comparison, ...]
    truths: tuple[WordShare, ...]
    verdict: tuple[str, ...]


def verdict(rows: Iterable[Mapping[str, Any]], study: Study) -> tuple[str, ...]:
    """The sentences on the rows of a study (see `Study.verdict`)."""
    return cloze_findings(rows).verdict


def cloze_findings(rows: Rows) -> ClozeFindings:
    """The findings of these rows, which may be those of a study that is not finished."""
    answers = _answers(rows)
    variants = tuple(_variant(name, answers[name]) for name in answers)
    comparisons = _comparisons(answers)
    truths = {number: str(row["truth"]) for of_variant in answers.values() for number, row in of_variant.items()}
    impossible = list(dict.fromkeys(truth for truth in truths.values() if not can_be_an_answer(truth)))
    verdict = (*_verdict(variants, comparisons), *_unanswerable_sentence(variants, impossible))
    return ClozeFindings(variants, comparisons, _shares(filter(can_be_an_answer, truths.values())), verdict)


def examples(rows: Rows) -> list[Example]:
    """The passages with what each variant made of them, in their order."""
    answers = _answers(rows)
    numbers = sorted({number for of_variant in answers.values() for number in of_variant})
    found = []
    for number in numbers:
        asked = {name: of_variant[number] for name, of_variant in answers.items() if number in of_variant}
        any_row = next(iter(asked.values()))
        found.append(
            Example(
                passage=number,
                context=any_row["context"],
                truth=any_row["truth"],
                answers={name: tuple(answer["word"] for answer in row["answers"]) for name, row in asked.items()},
                ranks={name: row["rank"] for name, row in asked.items()},
                undecided=tuple(name for name, row in asked.items() if is_undecided(row)),
            )
        )
    return found


Answers = dict[str, dict[int, Mapping[str, Any]]]


def _answers(rows: Rows) -> Answers:
    """The row of each passage, by variant in their usual order."""
    answers: Answers = {}
    for row in rows_of(rows, ANSWER):
        answers.setdefault(row["variant"], {})[row["passage"]] = row
    return {name: answers[name] for name in VARIANTS if name in answers}


def is_counted(row: Mapping[str, Any]) -> bool:
    """Whether a passage could be asked, and answered."""
    return not row["error"] and can_be_an_answer(str(row["truth"]))


def is_undecided(row: Mapping[str, Any]) -> bool:
    """Whether the search was cut before it came to any answer."""
    return bool(row["cut"]) and not row["answers"]


def _variant(name: str, rows: Mapping[int, Mapping[str, Any]]) -> VariantResult:
    asked = [row for row in rows.values() if is_counted(row)]
    errors = sum(bool(row["error"]) for row in rows.values())
    right = sum(row["right"] for row in asked)
    undecided = sum(map(is_undecided, asked))
    firsts = [row["answers"][0]["word"] for row in asked if row["answers"]]
    frequent = _shares(firsts)
    return VariantResult(
        variant=name,
        label=LABELS[name],
        asked=len(asked),
        right=right,
        undecided=undecided,
        errors=errors,
        accuracy=proportion(right, len(asked)),
        at_most=(right + undecided) / len(asked) if asked else 1.0,
        truth_listed=sum(row["rank"] is not None for row in asked),
        frequent=frequent,
        frequent_share=sum(each.count for each in frequent) / len(firsts) if firsts else 0.0,
        expansions=sum(row["expansions"] for row in asked) / len(asked) if asked else 0.0,
        unanswerable=len(rows) - len(asked) - errors,
    )


def _shares(words: Iterable[str]) -> tuple[WordShare, ...]:
    counts = Counter(words)
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:FREQUENT]
    return tuple(WordShare(word, count, count / counts.total()) for word, count in most)


def _comparisons(answers: Answers) -> tuple[Comparison, ...]:
    compared = []
    for first, second in combinations(answers, 2):
        both = [
            (answers[first][number], answers[second][number])
            for number in answers[first]
            if number in answers[second]
            and all(
                is_counted(row) and not is_undecided(row) for row in (answers[first][number], answers[second][number])
            )
        ]
        test = paired_test([bool(one["right"]) for one, _ in both], [bool(other["right"]) for _, other in both])
        compared.append((first, second, test))
    corrected = holm([test.p_value for _, _, test in compared])
    return tuple(Comparison(*each, p_value) for each, p_value in zip(compared, corrected, strict=True))


def _verdict(variants: Sequence[VariantResult], comparisons: Sequence[Comparison]) -> Iterable[str]:
    if not any(result.asked for result in variants):
        if not any(result.unanswerable for result in variants):
            yield "No passage has been asked yet."
        return
    for result in variants:
        if result.asked:
            yield _accuracy_sentence(result)
    certain = [each for each in comparisons if each.is_significant]
    for each in certain:
        yield _comparison_sentence(each)
    if comparisons and not certain:
        yield "Between no two ways of asking is the difference larger than chance could make it on so many passages."
    for result in variants:
        if result.asked - result.undecided > FREQUENT and result.frequent_share >= 0.1:
            words = ", ".join(f"“{each.word}”" for each in result.frequent if each.count > 1)
            if words:
                share = sum(each.share for each in result.frequent if each.count > 1)
                yield f"Of the answers with {result.label}, {percent(share)} are {words}."
    if errors := max(result.errors for result in variants):
        passages = "1 passage" if errors == 1 else f"{errors} passages"
        yield f"{passages} could not be asked in at least one way, and do not count there."


def _unanswerable_sentence(variants: Sequence[VariantResult], words: Sequence[str]) -> Iterable[str]:
    """What is left out because no answer can be its last word, and the shares with it. words: the different ones."""
    most = max((result.unanswerable for result in variants), default=0)
    if not most:
        return
    shown = [word if len(word) <= LONGEST_SHOWN else f"{word[: LONGEST_SHOWN - 1]}…" for word in words[:FREQUENT]]
    told = ", ".join(f"“{word}”" for word in shown) + (" …" if len(words) > FREQUENT else "")
    yield (
        f"{counted(most, 'passage ends', 'passages end')} in a word that is not of plain letters alone, which no answer"
        f" can be ({told}), and {'is' if most == 1 else 'are'} left out."
    )
    asked = [result for result in variants if result.asked]
    if asked:
        shares = ", ".join(f"{percent(result.strict_share)} with {result.label}" for result in asked)
        yield f"Counted as not found, as in the paper, the shares would be {shares}."


def _accuracy_sentence(result: VariantResult) -> str:
    said = (
        f"With {result.label} the model finds the last word of {result.right} in {result.asked} passages"
        f" ({_interval(result.accuracy)})"
    )
    if not result.undecided:
        return f"{said}."
    return (
        f"{said}; {result.undecided} more were cut before their answer was certain, so without that limit"
        f" it would be between {percent(result.accuracy.value)} and {percent(result.at_most)} of these passages."
    )


def _comparison_sentence(comparison: Comparison) -> str:
    test, better, worse = comparison.test, comparison.first, comparison.second
    ahead, behind = test.first_only, test.second_only
    if behind > ahead:
        better, worse, ahead, behind = worse, better, behind, ahead
    return (
        f"“{LABELS[better]}” finds more than “{LABELS[worse]}”: of {test.pairs} passages that both decided, {ahead}"
        f" only by the former and {behind} only by the latter (p = {comparison.corrected_p_value:.2g}, corrected)."
    )


def _interval(estimate: Estimate) -> str:
    return f"{percent(estimate.value)}, 95 % interval {percent(estimate.low)} to {percent(estimate.high)}"
