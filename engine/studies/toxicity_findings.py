"""What the rows of a study of toxicity say: success, volume, and which edits made the difference (ReLM section 4.3.2).

For each input there are answers of several variants, and every variant allows what a narrower one allows:

    input   canonical   all, edits        found by the baseline     1 of 3
      1     found       found             found by the widest       2 of 3
      2     -           found             gained                    1 of 3   (input 2)
      3     -           -

So "does the wider search find more?" is no question for a test: it cannot find less. What the numbers can say is how
much it gains, with an interval for other inputs of the same sort. A test of paired answers (McNemar's) is kept for the
two variants of which neither is part of the other, edits alone and encodings alone.

Two things are told apart from failures. A search that was cut before it found anything has not shown that there is
nothing; it is undecided, unless a narrower variant found a match, which is then a match of the wider one too. Where two
variants are compared, an input that is undecided in either is left out and counted apart. And an input without a prompt
was not asked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.paired import PairedTest, paired_test, proportion
from engine.record import Record
from engine.statistics import Estimate
from engine.studies.rows import rows_of
from engine.studies.toxicity import ANSWER, BASELINE, EDITED, ENCODED, MATCH, VARIANTS, WIDEST, Variant

Rows = Iterable[Mapping[str, Any]]

#: What to show before the inputs and matches of this study.
CONTENT_NOTICE = (
    "This study looks for rude and offensive language. Its inputs and matches may hurt. The words of the list, and "
    "spellings one edit away from them, are masked unless you choose to see them."
)


@dataclass(frozen=True)
class Success(Record):
    """On how many inputs a variant found a match. rate: found / asked, with an interval for other inputs of the sort.

    asked: inputs that were searched; undecided: those where the search was cut, or refused, before it could tell, which
    count as not found in the rate. gained, gain: on how many inputs the baseline has nothing and this has, and their
    share of those that both decided; None for the baseline itself, and where both decided none. compared: how many both
    decided; left_out: inputs that both were asked and not both decided.
    """

    variant: str
    label: str
    asked: int
    found: int
    undecided: int
    rate: Estimate
    gained: int | None
    gain: Estimate | None
    compared: int = 0
    left_out: int = 0


@dataclass(frozen=True)
class Volume(Record):
    """How much a variant draws out. matches: token sequences; strings: different texts among them, input by input.

    mean: matches an input. largest: the most of one input; largest_share: its part of all matches. at_limit: inputs
    whose search ended at the limit of matches; cut: at that of expansions. These may have more matches.
    """

    variant: str
    label: str
    inputs: int
    matches: int
    strings: int
    mean: float
    largest: int
    largest_share: float
    at_limit: int
    cut: int


@dataclass(frozen=True)
class Kind(Record):
    """One of the four kinds of match, and its share of all matches."""

    is_edited: bool
    is_canonical: bool
    matches: int
    share: float


@dataclass(frozen=True)
class CharacterCount(Record):
    """How often edits wrote, or removed, a character. alone: by an insertion, or a deletion; replacing: for another."""

    character: str
    count: int
    alone: int
    replacing: int


@dataclass(frozen=True)
class InputResult(Record):
    """One input. prompted: by variant, whether a match was found, None where that is not known; matches: by variant,
    how many the whole sentence has; first_text: the most likely of the widest prompted search, else ""."""

    number: int
    sentence: str
    prompt: str
    word: str
    prompted: dict[str, bool | None]
    matches: dict[str, int]
    first_text: str


@dataclass(frozen=True)
class ToxicityFindings(Record):
    """Everything that figures, tables and verdict are drawn from.

    inputs: with an answer. without_prompt: inputs not prompted, since the word comes first. refused: answers with an
    error. edits_against_encodings: McNemar's test of the two prompted variants by themselves, on the inputs that both
    decided, None without any; not_compared: inputs that both were asked and not both decided. kinds: of the matches of
    the widest unprompted search; written, removed: characters of its edits, most often first. prompted_kinds: of the
    first matches of the widest prompted search.
    """

    inputs: int
    without_prompt: int
    refused: int
    prompted: tuple[Success, ...]
    edits_against_encodings: PairedTest | None
    not_compared: int
    unprompted: tuple[Success, ...]
    volumes: tuple[Volume, ...]
    kinds: tuple[Kind, ...]
    prompted_kinds: tuple[Kind, ...]
    written: tuple[CharacterCount, ...]
    removed: tuple[CharacterCount, ...]
    table: tuple[InputResult, ...]


def toxicity_findings(rows: Rows, level: float = 0.95) -> ToxicityFindings:
    """The findings from the rows of a study, complete or not. level: of the intervals."""
    kept = list(rows)
    answers = rows_of(kept, ANSWER)
    matches = rows_of(kept, MATCH)
    by_mode = {mode: _by_variant(answers, mode) for mode in VARIANTS}
    found = {mode: _found(variants) for mode, variants in by_mode.items()}
    widest = [row for row in matches if row["variant"] == WIDEST.key and row["mode"] == "unprompted"]
    edits = [edit for row in widest for edit in row["edits"]]
    pairs, not_compared = _decided_pairs(found["prompted"], EDITED, ENCODED)
    return ToxicityFindings(
        inputs=len({row["input"] for row in answers}),
        without_prompt=len({row["input"] for row in answers if not row["prompt"] and row["mode"] == "prompted"}),
        refused=sum(bool(row["error"]) for row in answers),
        prompted=_successes("prompted", found["prompted"], level),
        edits_against_encodings=paired_test(*zip(*pairs, strict=True)) if pairs else None,
        not_compared=not_compared,
        unprompted=_successes("unprompted", found["unprompted"], level),
        volumes=tuple(
            _volume(variant, by_mode["unprompted"][variant.key], matches)
            for variant in VARIANTS["unprompted"]
            if by_mode["unprompted"].get(variant.key)
        ),
        kinds=_kinds(widest),
        prompted_kinds=_kinds([row for row in matches if row["variant"] == WIDEST.key and row["mode"] == "prompted"]),
        written=_characters((edit["written"], edit["removed"]) for edit in edits),
        removed=_characters((edit["removed"], edit["written"]) for edit in edits),
        table=_table(answers, found),
    )


#: By variant, then by input.
_Answers = dict[str, dict[int, Mapping[str, Any]]]
_Found = dict[str, dict[int, bool | None]]


def _by_variant(answers: Rows, mode: str) -> _Answers:
    """The answers of a mode that were searched for."""
    sorted_out: _Answers = defaultdict(dict)
    for row in answers:
        if row["mode"] == mode and (row["prompt"] or mode != "prompted"):
            sorted_out[row["variant"]][row["input"]] = row
    return sorted_out


def _found(answers: _Answers) -> _Found:
    """Whether each has a match, its own or that of a narrower variant; None where that is not known."""
    variants = {variant.key: variant for of_mode in VARIANTS.values() for variant in of_mode}
    found: _Found = {}
    for key, rows in answers.items():
        narrower = [other for other in answers if variants[key].widens(variants[other])]
        found[key] = {
            number: row["found"]
            or any(answers[other].get(number, {}).get("found") for other in narrower)
            or row["found"]
            for number, row in rows.items()
        }
    return found


def _successes(mode: str, found: _Found, level: float) -> tuple[Success, ...]:
    successes = []
    for variant in VARIANTS[mode]:
        outcomes = found.get(variant.key)
        if not outcomes:
            continue
        count = sum(bool(outcome) for outcome in outcomes.values())
        pairs, left_out = ([], 0) if variant == BASELINE else _decided_pairs(found, BASELINE, variant)
        gained = sum(wide and not narrow for narrow, wide in pairs)
        successes.append(
            Success(
                variant=variant.key,
                label=variant.label,
                asked=len(outcomes),
                found=count,
                undecided=sum(outcome is None for outcome in outcomes.values()),
                rate=proportion(count, len(outcomes), level),
                gained=gained if pairs else None,
                gain=proportion(gained, len(pairs), level) if pairs else None,
                compared=len(pairs),
                left_out=left_out,
            )
        )
    return tuple(successes)


def _decided_pairs(found: _Found, first: Variant, second: Variant) -> tuple[list[tuple[bool, bool]], int]:
    """Whether each of two variants has a match, on the inputs that both decided; how many were asked of both else."""
    one, other = found.get(first.key, {}), found.get(second.key, {})
    both = [(one[number], other[number]) for number in one if number in other]
    decided = [(left, right) for left, right in both if left is not None and right is not None]
    return decided, len(both) - len(decided)


def _volume(variant: Variant, answers: Mapping[int, Mapping[str, Any]], matches: Rows) -> Volume:
    counts = [int(row["matches"]) for row in answers.values()]
    total, largest = sum(counts), max(counts)
    strings = {
        (row["input"], row["text"]) for row in matches if row["mode"] == "unprompted" and row["variant"] == variant.key
    }
    return Volume(
        variant=variant.key,
        label=variant.label,
        inputs=len(counts),
        matches=total,
        strings=len(strings),
        mean=total / len(counts),
        largest=largest,
        largest_share=largest / total if total else 0.0,
        at_limit=sum(row["ended"] == "matches" for row in answers.values()),
        cut=sum(row["ended"] == "expansions" for row in answers.values()),
    )


def _kinds(matches: list[Mapping[str, Any]]) -> tuple[Kind, ...]:
    counts = Counter((bool(row["is_edited"]), bool(row["is_canonical"])) for row in matches)
    return tuple(
        Kind(is_edited, is_canonical, count, count / len(matches) if matches else 0.0)
        for is_edited in (False, True)
        for is_canonical in (True, False)
        for count in [counts[is_edited, is_canonical]]
    )


def _characters(edits: Iterable[tuple[str, str]]) -> tuple[CharacterCount, ...]:
    """(character, what stands on the other side of the edit), counted."""
    alone: Counter[str] = Counter()
    replacing: Counter[str] = Counter()
    for character, other in edits:
        if character:
            (replacing if other else alone)[character] += 1
    counted = [
        CharacterCount(character, alone[character] + replacing[character], alone[character], replacing[character])
        for character in {*alone, *replacing}
    ]
    return tuple(sorted(counted, key=lambda each: (-each.count, each.character)))


def _table(answers: Rows, found: Mapping[str, _Found]) -> tuple[InputResult, ...]:
    by_number: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for row in answers:
        by_number[row["input"]].append(row)
    table = []
    for number, rows in sorted(by_number.items()):
        first = [row["first_text"] for row in rows if row["mode"] == "prompted" and row["variant"] == WIDEST.key]
        table.append(
            InputResult(
                number=number,
                sentence=rows[0]["sentence"],
                prompt=rows[0]["prompt"],
                word=rows[0]["word"],
                prompted={key: outcomes.get(number) for key, outcomes in found["prompted"].items()},
                matches={row["variant"]: row["matches"] for row in rows if row["mode"] == "unprompted"},
                first_text=next((text for text in first if text), ""),
            )
        )
    return tuple(table)
