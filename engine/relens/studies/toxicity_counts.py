"""What a study of toxicity counts: inputs with a match, matches by kind, characters of edits (ReLM section 4.3.2).

Every variant allows all that a narrower one allows:

    input   canonical   all, edits        baseline    1 of 3
      1     match       match             widest      2 of 3
      2     -           match             gained      1 of 3   (input 2)
      3     -           -

So a wider variant cannot match less, and a test whether it matches more has no meaning. The gain has an interval for
other inputs of the same sort. McNemar's test is for the two variants of which neither is part of the other, edits alone
and encodings alone.

A search that was cut before its first match has not shown that there is none: the input is undecided, unless a narrower
variant has a match, which is also one of the wider variant. A comparison of two variants leaves out inputs that are
undecided in either, and counts them apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from relens.paired import PairedTest, paired_test, proportion
from relens.statistics import Estimate
from relens.studies.toxicity import BASELINE, VARIANTS, InputAnswer, InputMatch, Mode, Variant, VariantKey

#: The answers of a mode by variant, then by input.
Answers = Mapping[VariantKey, Mapping[int, InputAnswer]]
#: For each input whether there is a match, None where it is undecided; and these by variant.
Outcomes = Mapping[int, bool | None]
VariantOutcomes = Mapping[VariantKey, Outcomes]


@dataclass(frozen=True)
class Pairs:
    """Two variants on the same inputs. decided: (first, second) of each input that both decided.

    left_out: inputs that are undecided in either.
    """

    decided: tuple[tuple[bool, bool], ...] = ()
    left_out: int = 0

    @property
    def test(self) -> PairedTest | None:
        """McNemar's test, None where no input was decided by both."""
        return paired_test(*zip(*self.decided, strict=True)) if self.decided else None


@dataclass(frozen=True)
class Success:
    """The inputs with a match of one variant. against_baseline: pairs of (baseline, this); none of the baseline."""

    variant: Variant
    outcomes: Outcomes
    against_baseline: Pairs

    @property
    def inputs(self) -> int:
        """Inputs with a search."""
        return len(self.outcomes)

    @property
    def found(self) -> int:
        """Inputs with a match."""
        return sum(map(bool, self.outcomes.values()))

    @property
    def undecided(self) -> int:
        """Inputs whose search was cut or refused before its first match; they count as not found in the rate."""
        return sum(outcome is None for outcome in self.outcomes.values())

    @property
    def rate(self) -> Estimate:
        """Found of inputs, with an interval for other inputs of the sort."""
        return proportion(self.found, self.inputs)

    @property
    def gained(self) -> int | None:
        """Inputs with a match of this and none of the baseline; None without a pair."""
        pairs = self.against_baseline.decided
        return sum(wide and not narrow for narrow, wide in pairs) if pairs else None

    @property
    def gain(self) -> Estimate | None:
        """Gained of the inputs that both decided; None without a pair."""
        return None if self.gained is None else proportion(self.gained, len(self.against_baseline.decided))


@dataclass(frozen=True)
class Volume:
    """The matches of one variant. counts: of each input. strings: different texts, input by input.

    at_limit, cut: inputs whose search ended at the limit of matches, of expansions. These may have more matches.
    """

    variant: Variant
    counts: tuple[int, ...]
    strings: int
    at_limit: int
    cut: int

    @property
    def inputs(self) -> int:
        """Inputs with a search."""
        return len(self.counts)

    @property
    def matches(self) -> int:
        """Matching token sequences of all inputs."""
        return sum(self.counts)

    @property
    def mean(self) -> float:
        """Matches an input."""
        return self.matches / self.inputs

    @property
    def largest_share(self) -> float:
        """The part of all matches that belongs to the input with the most."""
        return max(self.counts) / self.matches if self.matches else 0.0


@dataclass(frozen=True)
class Kind:
    """One of the four kinds of match, and its share of all matches."""

    is_edited: bool
    is_canonical: bool
    matches: int
    share: float


@dataclass(frozen=True)
class CharacterCount:
    """The edits that write (or remove) a character. alone: insertions (deletions); replacing: substitutions."""

    character: str
    alone: int
    replacing: int

    @property
    def count(self) -> int:
        """All of them."""
        return self.alone + self.replacing


def searched(answers: Iterable[InputAnswer], mode: Mode) -> Answers:
    """The answers of a mode, without those of inputs without a prompt."""
    by_variant: dict[VariantKey, dict[int, InputAnswer]] = {}
    for answer in answers:
        if answer.mode == mode and (answer.prompt or mode != "prompted"):
            by_variant.setdefault(answer.variant, {})[answer.input] = answer
    return by_variant


def outcomes_of(mode: Mode, answers: Answers) -> VariantOutcomes:
    """Whether each input has a match, of its variant or of a narrower one."""
    variants = [variant for variant in VARIANTS[mode] if variant.key in answers]
    outcomes: dict[VariantKey, Outcomes] = {}
    for variant in variants:
        narrower = [answers[other.key] for other in variants if variant.widens(other)]
        outcomes[variant.key] = {
            number: any(number in other and other[number].found for other in narrower) or answer.found
            for number, answer in answers[variant.key].items()
        }
    return outcomes


def successes(mode: Mode, outcomes: VariantOutcomes) -> tuple[Success, ...]:
    """The success of each variant of a mode."""
    return tuple(
        Success(
            variant, outcomes[variant.key], Pairs() if variant == BASELINE else pairs_of(outcomes, BASELINE, variant)
        )
        for variant in VARIANTS[mode]
        if variant.key in outcomes
    )


def pairs_of(outcomes: VariantOutcomes, first: Variant, second: Variant) -> Pairs:
    """Two variants on the inputs with an answer of both."""
    one, other = outcomes.get(first.key, {}), outcomes.get(second.key, {})
    both = [(one[number], other[number]) for number in one if number in other]
    decided = tuple((left, right) for left, right in both if left is not None and right is not None)
    return Pairs(decided, len(both) - len(decided))


def volumes(answers: Answers, matches: Iterable[InputMatch]) -> tuple[Volume, ...]:
    """The volume of each unprompted variant."""
    texts = {(match.variant, match.input, match.text) for match in matches if match.mode == "unprompted"}
    strings = Counter(variant for variant, _, _ in texts)
    return tuple(
        Volume(
            variant,
            tuple(answer.matches for answer in own),
            strings[variant.key],
            at_limit=sum(answer.ended == "matches" for answer in own),
            cut=sum(answer.ended == "expansions" for answer in own),
        )
        for variant in VARIANTS["unprompted"]
        if (own := list(answers.get(variant.key, {}).values()))
    )


def kinds_of(matches: Sequence[InputMatch]) -> tuple[Kind, ...]:
    """The four kinds of match, counted."""
    counts = Counter((match.is_edited, match.is_canonical) for match in matches)
    return tuple(
        Kind(*kind, counts[kind], counts[kind] / len(matches) if matches else 0.0)
        for kind in ((False, True), (False, False), (True, True), (True, False))
    )


def characters(edits: Iterable[tuple[str, str]]) -> tuple[CharacterCount, ...]:
    """Characters of edits, most often first. edits: (character, the one on the other side of the edit or "")."""
    counts = Counter((character, bool(other)) for character, other in edits if character)
    found = [
        CharacterCount(character, counts[character, False], counts[character, True])
        for character in {character for character, _ in counts}
    ]
    return tuple(sorted(found, key=lambda each: (-each.count, each.character)))
