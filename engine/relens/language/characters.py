r"""Which characters one step of a regular expression matches, as ranges of code points.

`[^a-f\d]`, `.` and `\w` each match one character. Everything behind this module sees them as sorted, disjoint,
inclusive ranges: `[a-f0]` is ((48, 48), (97, 102)).

Python decides what such an atom means, not we: its own parser reads the atom, and a category such as `\w` is the set
of characters that `re` itself finds. Case is the hard part. `(?i:k)` also matches the Kelvin sign and `(?i:s)` the
long s, and the rules have grown exceptions. But letter case can only concern the few thousand characters that some
case mapping changes or produces. So with the flag on, each of those is put to `re` itself, and for all
others the plain ranges hold.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import cache, lru_cache
from re import _casefix, _constants, _parser  # type: ignore[attr-defined]
from typing import Any

#: Sorted, disjoint, inclusive ranges of code points.
Ranges = tuple[tuple[int, int], ...]

EVERYTHING: Ranges = ((0, sys.maxunicode),)

_CATEGORIES = {
    _constants.CATEGORY_DIGIT: r"\d",
    _constants.CATEGORY_NOT_DIGIT: r"\D",
    _constants.CATEGORY_SPACE: r"\s",
    _constants.CATEGORY_NOT_SPACE: r"\S",
    _constants.CATEGORY_WORD: r"\w",
    _constants.CATEGORY_NOT_WORD: r"\W",
}


def normalise(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The same set with its ranges sorted, and those that touch or overlap joined."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return tuple(joined)


def complement(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Every code point that is not in `ranges`."""
    missing: list[tuple[int, int]] = []
    next_low = 0
    for low, high in normalise(ranges):
        if low > next_low:
            missing.append((next_low, low - 1))
        next_low = high + 1
    if next_low <= sys.maxunicode:
        missing.append((next_low, sys.maxunicode))
    return tuple(missing)


@cache
def category_ranges(category: str, ascii_only: bool) -> Ranges:
    r"""The characters of `\d`, `\s`, `\w` or one of their negations, as `re` has them (some 0.1 s the first time)."""
    if category[1].isupper():
        return complement(category_ranges(category.lower(), ascii_only))
    runs = re.compile(category + "+", re.ASCII if ascii_only else 0)
    return tuple((run.start(), run.end() - 1) for run in runs.finditer(_every_character()))


@lru_cache(maxsize=4096)
def atom_ranges(atom: str, flags: int) -> Ranges:
    """The characters that `atom` matches: a character, an escape, `.` or a class, as written in a valid expression.

    flags: of `re.IGNORECASE`, `re.ASCII` and `re.DOTALL` those in force; others are ignored.
    """
    flags &= re.IGNORECASE | re.ASCII | re.DOTALL
    plain = _plain_ranges(atom, flags)
    if not flags & re.IGNORECASE:
        return plain
    matched = re.compile(atom, flags & ~re.VERBOSE).findall(_cased_characters())
    return normalise(
        [*_intersect(plain, _caseless_ranges()), *((ord(character), ord(character)) for character in matched)]
    )


@lru_cache(maxsize=4096)
def atom_items(atom: str) -> tuple[tuple[Any, Any], ...]:
    """What Python's own parser makes of `atom`: its (operator, argument) pairs."""
    return tuple(_parser.parse(atom))


def _plain_ranges(atom: str, flags: int) -> Ranges:
    ((operator, argument),) = atom_items(atom)
    if operator is _constants.ANY:
        return EVERYTHING if flags & re.DOTALL else complement([(10, 10)])
    if operator is _constants.LITERAL:
        return ((argument, argument),)
    if operator is _constants.NOT_LITERAL:
        return complement([(argument, argument)])
    assert operator is _constants.IN, f"{atom!r} is not one character"
    negated = False
    ranges: list[tuple[int, int]] = []
    for kind, value in argument:
        if kind is _constants.NEGATE:
            negated = True
        elif kind is _constants.LITERAL:
            ranges.append((value, value))
        elif kind is _constants.RANGE:
            ranges.append(value)
        else:
            ranges.extend(category_ranges(_CATEGORIES[value], bool(flags & re.ASCII)))
    return complement(ranges) if negated else normalise(ranges)


@lru_cache(maxsize=1)
def _every_character() -> str:
    return "".join(map(chr, range(sys.maxunicode + 1)))


@lru_cache(maxsize=1)
def _cased_characters() -> str:
    """Every character that a case mapping changes, or that one produces, or that `re` lists as an exception."""
    cased: set[int] = set()
    for code, others in _casefix._EXTRA_CASES.items():
        cased.update((code, *others))
    text = _every_character()
    for block in range(0, len(text), 256):
        piece = text[block : block + 256]
        if piece.lower() == piece == piece.upper():
            continue
        for character in piece:
            for mapped in (character.lower(), character.upper()):
                if mapped != character:
                    cased.add(ord(character))
                    cased.update(map(ord, mapped))
    return "".join(map(chr, sorted(cased)))


@lru_cache(maxsize=1)
def _caseless_ranges() -> Ranges:
    return complement((ord(character), ord(character)) for character in _cased_characters())


def _intersect(left: Ranges, right: Ranges) -> Ranges:
    return complement([*complement(left), *complement(right)])
