r"""Labels of drawn arcs: a set of characters, or of tokens, in as few signs as a reader needs.

    {a, b, ..., z}              [a-z]
    {space}                     ␣
    everything but a newline    [^\n]           (a lone . is the full stop)
    the digits of every script  \d
    {é}                         é
    tokens 2378, 5021           ␣Jan, ␣January
    1,204 tokens                1,204 tokens: ␣a, ␣the, ␣in, …

Labels are plain text; escaping them is left to the page. White space, control characters and bytes that are no
character by themselves are made visible, so that a label shows exactly what it stands for.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from relens.language.characters import Ranges, category_ranges, complement, normalise
from relens.tokens.tokenizer import Tokenizer

#: UTF-8 has no surrogates, so no automaton over bytes reads one.
SURROGATES = (0xD800, 0xDFFF)

#: The most parts of a class; a longer one is counted instead.
LONGEST_CLASS = 12
#: The most tokens of a plain list, and of the list after a count.
LISTED_TOKENS, SAMPLE_TOKENS = 4, 3

_CATEGORIES = (r"\w", r"\d", r"\s")

_NAMED = {" ": "␣", "\n": r"\n", "\t": r"\t", "\r": r"\r", "\f": r"\f", "\v": r"\v"}


def visible(text: str) -> str:
    """`text` with white space and unprintable characters shown as signs or escapes."""
    return "".join(_visible_character(character) for character in text)


def visible_bytes(data: bytes) -> str:
    r"""`data` as text where it is UTF-8; a byte that belongs to no whole character is shown as `\xe2`."""
    try:
        return visible(data.decode())
    except UnicodeDecodeError:
        return visible(data.decode(errors="backslashreplace"))


def _visible_character(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    if unicodedata.category(character).startswith("M"):
        return f"◌{character}"  # a combining mark needs something to sit on
    if character.isprintable():
        return character
    return (
        character.encode("ascii", "backslashreplace").decode() if ord(character) > 127 else f"\\x{ord(character):02x}"
    )


@lru_cache(maxsize=1024)
def characters_label(ranges: Ranges) -> str:
    """The label of a set of characters, given as sorted inclusive ranges of code points without surrogates."""
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return visible(chr(ranges[0][0]))
    missing = without_surrogates(complement(ranges))
    if not missing:
        return "any character"
    members, others = _class_parts(ranges), _class_parts(missing)
    if len(members) == 1 and members[0] in _CATEGORIES:
        return members[0]
    if len(others) == 1 and others[0] in _CATEGORIES:
        return others[0].upper()
    if min(len(members), len(others)) > LONGEST_CLASS:
        first = ", ".join(visible(chr(low)) for low, _ in ranges[:SAMPLE_TOKENS])
        return f"{count_characters(ranges):,} characters: {first}, …"
    return f"[{''.join(members)}]" if len(members) <= len(others) else f"[^{''.join(others)}]"


def count_characters(ranges: Ranges) -> int:
    """How many characters the ranges hold."""
    return sum(high - low + 1 for low, high in ranges)


def tokens_label(token_ids: Sequence[int], tokenizer: Tokenizer) -> str:
    """The label of a set of tokens, ascending: those with small ids, which are the common ones, are named."""
    if len(token_ids) <= LISTED_TOKENS:
        return ", ".join(token_label(token, tokenizer) for token in token_ids)
    sample = ", ".join(token_label(token, tokenizer) for token in token_ids[:SAMPLE_TOKENS])
    return f"{len(token_ids):,} tokens: {sample}, …"


def token_label(token: int, tokenizer: Tokenizer) -> str:
    """One token as its visible text."""
    spelled = tokenizer.vocabulary[token]
    return visible(tokenizer.token_text(token)) if spelled is None else visible_bytes(spelled)


def without_surrogates(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """`ranges` less the surrogates."""
    kept: list[tuple[int, int]] = []
    for low, high in ranges:
        kept += [(low, min(high, SURROGATES[0] - 1)), (max(low, SURROGATES[1] + 1), high)]
    return tuple((low, high) for low, high in kept if low <= high)


def _class_parts(ranges: Ranges) -> list[str]:
    r"""The inside of `[...]`: named categories first, then ranges."""
    parts: list[str] = []
    rest = ranges
    for category in _CATEGORIES:
        members = _category(category)
        left = _subtract(rest, members)
        if count_characters(rest) - count_characters(left) == count_characters(members):
            parts.append(category)
            rest = left
    return parts + [_range_part(low, high) for low, high in _joined_over_surrogates(rest)]


def _range_part(low: int, high: int) -> str:
    first, last = _inside(chr(low)), _inside(chr(high))
    if low == high:
        return first
    return first + last if high == low + 1 else f"{first}-{last}"


def _inside(character: str) -> str:
    return f"\\{character}" if character in "\\]^-[" else visible(character)


@lru_cache(maxsize=8)
def _category(category: str) -> Ranges:
    return without_surrogates(category_ranges(category, False))


def _subtract(ranges: Ranges, members: Ranges) -> Ranges:
    return without_surrogates(complement([*complement(ranges), *members]))


def _joined_over_surrogates(ranges: Ranges) -> Ranges:
    r"""`[\ud7ff-\ue000]` becomes one range: a reader sees nothing in between."""
    closed = [*ranges, SURROGATES] if _touch_surrogates(ranges) else ranges
    return normalise(closed)


def _touch_surrogates(ranges: Ranges) -> bool:
    return any(high == SURROGATES[0] - 1 for _, high in ranges) and any(low == SURROGATES[1] + 1 for low, _ in ranges)
