"""The strings of a language that lie nearest to an edited text, and the edits between.

The language is `The (cat|dog)`, one edit is allowed, and a model wrote "The dig". Nearest is "The dog", and the edit
that made it the text is a substitution at position 5: o gave way to i. Where the language has classes there are often
many nearest strings, as many as `[a-z]` has letters if one of those was overwritten; by default the first in byte order
is given, on demand all of them.

Which strings are nearest is found in `lattice.py`, and of several ways to edit one `alignment.py` knows the canonical
one. Prefix and pattern are two automata in a row, because edits may be allowed in only one of them.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Literal

from relens.language.alignment import EditRules, align
from relens.language.alphabet import alphabet_ranges
from relens.language.automaton import ByteAutomaton
from relens.language.character_steps import CharacterSteps
from relens.language.lattice import Lattice
from relens.query import Edits, Limits
from relens.record import Record


@dataclass(frozen=True)
class Edit(Record):
    """One edit that leads from the nearest unedited string to the text of a match.

    position: in characters of the match's text, where the edit shows; of a deletion, where the character is missing.
    removed: the character of the unedited string, "" for an insertion. written: that of the text, "" for a deletion.
    part: which part of the query the edit falls into.
    """

    operation: Literal["insertion", "deletion", "substitution"]
    position: int
    removed: str
    written: str
    part: Literal["prefix", "pattern"]


@dataclass(frozen=True)
class Nearest:
    """The string of the unedited language with the fewest edits to a text, and these edits in order of position."""

    string: str
    edits: tuple[Edit, ...]


class NearestStrings:
    """The strings of `prefix . pattern` nearest to a text, where `edits` says what an edit may do and where.

    prefix, pattern: the automata before any edit. With edits allowed in both parts, a prefix of no characters is
    not edited: what is written there belongs to the pattern. Raises `RegexError` for an alphabet that is not one.
    """

    def __init__(self, unedited_prefix: ByteAutomaton, unedited_pattern: ByteAutomaton, edits: Edits) -> None:
        self._parts = CharacterSteps(unedited_prefix), CharacterSteps(unedited_pattern)
        where = edits.where
        if where == "both" and not unedited_prefix.arcs:
            where = "pattern"
        self._where = where
        self._distance = edits.distance
        self._bounds = [bound for low, high in alphabet_ranges(edits, Limits()) for bound in (low, high + 1)]
        self._rules = EditRules(edits.insertions, edits.deletions, edits.substitutions, self._is_writable)
        self._lattice = lru_cache(maxsize=1)(self._new_lattice)  # `find` and then `all` is the usual way

    def find(self, text: str) -> Nearest | None:
        """The nearest string, of several the first in byte order, with the canonical edits to `text` (`alignment.py`).

        An edit at the boundary belongs to the pattern, where both parts may be edited. None where no string is within
        the allowed edits, or where it takes more than `lattice.MOST_NODES` nodes to find one.
        """
        lattice = self._lattice(text)
        if lattice is None:
            return None
        string = next(lattice.strings(1))
        for prefix_length in self._prefix_lengths(string):
            edits = self._edits(string, text, prefix_length, lattice.distance)
            if edits is not None:
                return Nearest(string, edits)
        raise AssertionError(f"{string!r} is near {text!r} and cannot be aligned")  # a bug of ours

    def all(self, text: str, most: int = 64, representatives: Sequence[str] | None = None) -> list[str] | None:
        """The distinct nearest strings in byte order; [] where there are none, None where they are more than `most`.

        representatives: a sorted choice of characters. Of those that may stand in one place of the string, only these,
        and the one that stands there in the text, are then listed.
        """
        lattice = self._lattice(text)
        if lattice is None:
            return []
        chosen = None if representatives is None else [character.encode() for character in representatives]
        strings = list(islice(lattice.strings(most + 1, chosen), most + 1))
        return None if len(strings) > most else strings

    def _is_writable(self, character: str) -> bool:
        return bisect.bisect_right(self._bounds, ord(character)) % 2 == 1

    def _new_lattice(self, text: str) -> Lattice | None:
        try:
            characters = [character.encode() for character in text]
        except UnicodeEncodeError:
            return None
        editable = self._where in ("prefix", "both"), self._where in ("pattern", "both")
        lattice = Lattice(self._parts, characters, [*map(self._rules.writable, text)], editable, self._rules)
        return lattice if lattice.explore(self._distance) else None

    def _prefix_lengths(self, string: str) -> Iterator[int]:
        """Where the prefix of a string of the language may end, in characters, the last place first."""
        prefix, pattern = self._parts
        lengths, state = [], 0
        for length, character in enumerate([*string, ""]):
            if prefix.final[state]:
                lengths.append(length)
            state = prefix.step(state, character.encode())
            if state < 0:
                break
        return (length for length in reversed(lengths) if pattern.automaton.accepts(string[length:]))

    def _edits(self, string: str, text: str, prefix_length: int, distance: int) -> tuple[Edit, ...] | None:
        """The edits, where the prefix is string[:prefix_length]; None where that takes more, or others than allowed."""
        begin, source, target = 0, string, text
        if self._where == "prefix":  # and so the pattern is as it was
            rest = len(string) - prefix_length
            if string[prefix_length:] != text[max(0, len(text) - rest) :]:
                return None
            source, target = string[:prefix_length], text[: len(text) - rest]
        elif self._where == "pattern":
            if string[:prefix_length] != text[:prefix_length]:
                return None
            begin, source, target = prefix_length, string[prefix_length:], text[prefix_length:]
        steps = align(source, target, distance, self._rules)
        if steps is None:
            return None
        edits = []
        for operation, place, written_place in steps:
            in_prefix = self._where == "prefix" or (self._where == "both" and place < prefix_length)
            edits.append(
                Edit(
                    operation,
                    position=begin + written_place,
                    removed="" if operation == "insertion" else source[place],
                    written="" if operation == "deletion" else target[written_place],
                    part="prefix" if in_prefix else "pattern",
                )
            )
        return tuple(edits)
