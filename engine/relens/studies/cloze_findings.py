"""Findings of a cloze test: the accuracy of each variant, whether variants differ, and a verdict in sentences.

    words of the context    16 of 20 right    80 %   (58 to 92)
    any word                 9 of 20 right    45 %   (26 to 66)
    only the first right 7, only the second 0         p = 0.016, corrected for the number of comparisons 0.047

A passage whose search was cut before its first match was certain is undecided: not right, and not known to be wrong.
So an accuracy stands next to its value were all undecided passages right, and a comparison of two variants takes only
passages that both decided. A passage with an error counts nowhere.

Answers are words of plain letters, so a passage that ends in "1969" or "don't" is unanswerable. It is left out and
counted apart. The paper counts it as not found; the verdict has both shares. (LAMBADA's test set has two such passages
among 5,153.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from relens.counted import counted
from relens.paired import SIGNIFICANT, PairedTest, holm, paired_test, proportion
from relens.percent import p_text, percent
from relens.statistics import Estimate
from relens.studies.cloze import LABELS, VARIANTS, ClozeStudy, PassageAnswers, Variant
from relens.studies.passages import can_be_an_answer
from relens.studies.rows import Rows

#: The most frequent words that are listed.
FREQUENT = 5
#: Characters of a word of a passage that are shown.
LONGEST_SHOWN = 30


@dataclass(frozen=True)
class WordShare:
    """A word, the number of passages with it as answer (or as truth), and their share."""

    word: str
    count: int
    share: float


@dataclass(frozen=True)
class VariantResult:
    """One variant over its passages. rows: all of them, by passage."""

    variant: Variant
    rows: tuple[PassageAnswers, ...]

    @property
    def label(self) -> str:
        """The variant in plain words."""
        return LABELS[self.variant]

    @cached_property
    def scored(self) -> tuple[PassageAnswers, ...]:
        """The rows that count: without an error, and answerable."""
        return tuple(row for row in self.rows if row.is_scored)

    @property
    def passages(self) -> int:
        """The number of passages that count."""
        return len(self.scored)

    @cached_property
    def right(self) -> int:
        """Passages whose first answer is the truth."""
        return sum(row.right for row in self.scored)

    @cached_property
    def undecided(self) -> int:
        """Passages whose search was cut before its first match was certain."""
        return sum(row.is_undecided for row in self.scored)

    @cached_property
    def errors(self) -> int:
        """Passages without a search."""
        return sum(bool(row.error) for row in self.rows)

    @property
    def unanswerable(self) -> int:
        """Passages left out because no answer can be their last word."""
        return len(self.rows) - self.passages - self.errors

    @property
    def accuracy(self) -> Estimate:
        """Right of all passages that count, with Wilson's interval."""
        return proportion(self.right, self.passages)

    @property
    def at_most(self) -> float:
        """The accuracy were all undecided passages right."""
        return (self.right + self.undecided) / self.passages if self.passages else 1.0

    @property
    def strict_share(self) -> float:
        """The accuracy of the paper, where an unanswerable passage is not found."""
        everything = self.passages + self.unanswerable
        return self.right / everything if everything else 0.0

    @property
    def truth_listed(self) -> int:
        """Passages with the truth among the answers."""
        return sum(row.rank is not None for row in self.scored)

    @cached_property
    def frequent(self) -> tuple[WordShare, ...]:
        """The most frequent first answers."""
        return _most_frequent(row.answers[0].word for row in self.scored if row.answers)

    @property
    def expansions(self) -> float:
        """The mean number of expansions, without those of the context."""
        return sum(row.expansions for row in self.scored) / self.passages if self.passages else 0.0


@dataclass(frozen=True)
class Comparison:
    """Two variants on the passages that both decided. corrected_p_value: for the number of comparisons (Holm)."""

    first: Variant
    second: Variant
    test: PairedTest
    corrected_p_value: float

    @property
    def is_significant(self) -> bool:
        """Whether the variants differ by more than chance explains."""
        return self.corrected_p_value < SIGNIFICANT

    @property
    def better(self) -> Variant:
        """The variant with more passages that it alone has right; the first where both have as many."""
        return self.second if self.test.second_only > self.test.first_only else self.first

    @property
    def worse(self) -> Variant:
        """The other variant."""
        return self.first if self.better == self.second else self.second


@dataclass(frozen=True)
class ClozeFindings:
    """variants: in their usual order. comparisons: of each two of them."""

    variants: tuple[VariantResult, ...]
    comparisons: tuple[Comparison, ...]

    @cached_property
    def passages(self) -> tuple[dict[Variant, PassageAnswers], ...]:
        """The rows of each passage by variant, in the order of passages."""
        by_passage: dict[int, dict[Variant, PassageAnswers]] = {}
        for result in self.variants:
            for row in result.rows:
                by_passage.setdefault(row.passage, {})[row.variant] = row
        return tuple(by_passage[number] for number in sorted(by_passage))

    @cached_property
    def last_words(self) -> tuple[str, ...]:
        """The last word of each passage."""
        return tuple(next(iter(by_variant.values())).truth for by_variant in self.passages)

    @cached_property
    def truths(self) -> tuple[WordShare, ...]:
        """The most frequent last words, for comparison with the frequent answers."""
        return _most_frequent(filter(can_be_an_answer, self.last_words))

    @property
    def verdict(self) -> tuple[str, ...]:
        """Accuracies, differences, frequent answers, and the passages that are left out."""
        sentences = (*_result_sentences(self), *_unanswerable_sentences(self))
        return sentences or ("There is no result yet.",)


def cloze_findings(rows: Rows, study: ClozeStudy) -> ClozeFindings:
    """The findings of these rows, which may be those of a study that is not finished."""
    by_variant: dict[Variant, dict[int, PassageAnswers]] = {}
    for row in PassageAnswers.all_in(rows):
        by_variant.setdefault(row.variant, {})[row.passage] = row
    variants = tuple(
        VariantResult(name, tuple(row for _, row in sorted(by_variant[name].items())))
        for name in VARIANTS
        if name in by_variant
    )
    return ClozeFindings(variants, _comparisons(variants))


def _most_frequent(words: Iterable[str]) -> tuple[WordShare, ...]:
    counts = Counter(words)
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:FREQUENT]
    return tuple(WordShare(word, count, count / counts.total()) for word, count in most)


def _comparisons(variants: Sequence[VariantResult]) -> tuple[Comparison, ...]:
    decided = {result.variant: {row.passage: row.right for row in result.rows if row.is_decided} for result in variants}
    pairs = list(combinations(decided, 2))
    tests = []
    for first, second in pairs:
        shared = [number for number in decided[first] if number in decided[second]]
        tests.append(paired_test(*([decided[variant][number] for number in shared] for variant in (first, second))))
    corrected = holm([test.p_value for test in tests])
    return tuple(Comparison(*pair, test, p_value) for pair, test, p_value in zip(pairs, tests, corrected, strict=True))


def _result_sentences(findings: ClozeFindings) -> Iterator[str]:
    results = [result for result in findings.variants if result.passages]
    if not results:
        return
    yield from map(_accuracy_sentence, results)
    significant = [each for each in findings.comparisons if each.is_significant]
    yield from map(_comparison_sentence, significant)
    if findings.comparisons and not significant:
        yield "No two variants differ by more than chance explains."
    for result in results:
        repeated = [each for each in result.frequent if each.count > 1]
        share = sum(each.share for each in result.frequent)
        if repeated and result.passages - result.undecided > FREQUENT and share >= 0.1:
            words = ", ".join(f"“{each.word}”" for each in repeated)
            yield f"With {result.label}, {percent(sum(each.share for each in repeated))} of the answers are {words}."
    if errors := max(result.errors for result in findings.variants):
        outcome = "has an error and is" if errors == 1 else "have an error and are"
        yield f"{counted(errors, 'passage')} {outcome} left out of at least one variant."


def _unanswerable_sentences(findings: ClozeFindings) -> Iterator[str]:
    most = max((result.unanswerable for result in findings.variants), default=0)
    if not most:
        return
    words = list(dict.fromkeys(word for word in findings.last_words if not can_be_an_answer(word)))
    shown = [word if len(word) <= LONGEST_SHOWN else f"{word[: LONGEST_SHOWN - 1]}…" for word in words[:FREQUENT]]
    quoted = ", ".join(f"“{word}”" for word in shown) + (" …" if len(words) > FREQUENT else "")
    yield (
        f"{counted(most, 'passage ends', 'passages end')} in a word that is not of plain letters alone ({quoted}). No"
        f" answer can be such a word, so {'it is' if most == 1 else 'they are'} left out."
    )
    if results := [result for result in findings.variants if result.passages]:
        shares = ", ".join(f"{percent(result.strict_share)} with {result.label}" for result in results)
        yield f"Counted as not found, as in the paper, the shares would be {shares}."


def _accuracy_sentence(result: VariantResult) -> str:
    accuracy = result.accuracy
    sentence = (
        f"With {result.label} the model finds {result.right} of {counted(result.passages, 'last word')}"
        f" ({percent(accuracy.value)}, 95 % interval {percent(accuracy.low)} to {percent(accuracy.high)})."
    )
    if not result.undecided:
        return sentence
    return (
        f"{sentence} {counted(result.undecided, 'passage is', 'passages are')} undecided at the limit of expansions;"
        f" without it the share would be between {percent(accuracy.value)} and {percent(result.at_most)}."
    )


def _comparison_sentence(comparison: Comparison) -> str:
    test = comparison.test
    return (
        f"“{LABELS[comparison.better]}” finds more than “{LABELS[comparison.worse]}”: of"
        f" {counted(test.pairs, 'passage')} that both decided, {max(test.first_only, test.second_only)} only by the"
        f" former and {min(test.first_only, test.second_only)} only by the latter"
        f" (p = {p_text(comparison.corrected_p_value)}, corrected)."
    )
