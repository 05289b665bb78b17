r"""Ranges of code points as ranges of bytes.

The characters from é (C3 A9) to € (E2 82 AC) are 8,132 different byte strings, but only six shapes:

    C3     A9-BF             é to ÿ
    C4-DF  80-BF             to the last character of two bytes
    E0     A0-BF  80-BF      three bytes, where E0 must not be followed by less
    E1     80-BF  80-BF
    E2     80-81  80-BF
    E2     82     80-AC      up to €

So a set of characters is a tiny automaton over byte ranges. A range is first cut where the number of bytes changes and
around the surrogates, which no UTF-8 text contains, and then wherever a byte before the last would not run
through all its continuations (Ken Thompson's construction; Russ Cox, "Regular Expression Matching in the Wild",
and rust-lang/regex `utf8.rs` describe it). Sequences that continue alike then share their states, from the end
backwards, which for sorted ranges gives the minimal automaton at once: about 300 states for `\w`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby

from relens.language.characters import Ranges, complement

#: One inclusive range a byte, for byte strings of one length.
ByteSequence = tuple[tuple[int, int], ...]
#: The arcs of a state: (lowest byte, highest byte, number of the destination).
ByteArcs = tuple[tuple[int, int, int], ...]

#: The last character that is one byte.
LAST_ASCII = 0x7F

_SURROGATES = (0xD800, 0xDFFF)
_LAST_OF_LENGTH = (LAST_ASCII, 0x7FF, 0xFFFF)


def without_surrogates(ranges: Ranges) -> Ranges:
    """The characters of `ranges` that UTF-8 can spell."""
    if all(high < _SURROGATES[0] or low > _SURROGATES[1] for low, high in ranges):
        return ranges
    return complement([*complement(ranges), _SURROGATES])


def byte_sequences(low: int, high: int) -> Iterator[ByteSequence]:
    """The UTF-8 encodings of the code points `low` to `high` as byte ranges, in ascending order, without overlap."""
    todo = [(low, high)]
    while todo:
        first, last = todo.pop()
        if first > last:
            continue
        cut = _cut(first, last)
        if cut is not None:
            before, after = cut
            todo.extend(((after, last), (first, before)))  # the lower half is popped first
        elif first < _SURROGATES[0] or first > _SURROGATES[1]:
            yield tuple(zip(chr(first).encode(), chr(last).encode(), strict=True))


def _cut(first: int, last: int) -> tuple[int, int] | None:
    """Where to cut a range that is not yet one byte sequence: (end of the lower part, start of the upper)."""
    for edge in (_SURROGATES[0] - 1, _SURROGATES[1], *_LAST_OF_LENGTH):
        if first <= edge < last:
            return edge, edge + 1
    if last <= LAST_ASCII:
        return None
    for free_bits in (6, 12, 18):
        mask = (1 << free_bits) - 1
        if first & ~mask != last & ~mask:
            if first & mask:
                return first | mask, (first | mask) + 1
            if last & mask != mask:
                return (last & ~mask) - 1, last & ~mask
    return None


@lru_cache(maxsize=512)
def byte_states(ranges: Ranges) -> tuple[ByteArcs, ...]:
    """The minimal automaton of the UTF-8 encodings of one character of `ranges`, which are sorted and disjoint.

    State 0 is the only final one and has no arcs; the last state is the start (the only one, without arcs, for an empty
    set). Arcs of a state are sorted and disjoint, and lead to states of smaller number.
    """
    states: list[ByteArcs] = [()]
    numbers: dict[ByteArcs, int] = {}

    def number_of(tails: Sequence[ByteSequence]) -> int:
        if not tails[0]:
            return 0
        arcs: list[tuple[int, int, int]] = []
        for (low, high), group in groupby(tails, key=lambda tail: tail[0]):
            destination = number_of([tail[1:] for tail in group])
            if arcs and arcs[-1][1] + 1 == low and arcs[-1][2] == destination:
                arcs[-1] = (arcs[-1][0], high, destination)
            else:
                arcs.append((low, high, destination))
        key = tuple(arcs)
        if key not in numbers:
            numbers[key] = len(states)
            states.append(key)
        return numbers[key]

    sequences = [sequence for low, high in ranges for sequence in byte_sequences(low, high)]
    if not sequences:
        return (), ()
    number_of(sequences)
    return tuple(states)
