"""A compiled query language: three byte automata, and the type of the functions that make them.

For the prefix `The (cat|dog)` and the pattern ` sat`, `whole` accepts "The cat sat" and "The dog sat", and its states
know up to where a string still begins some prefix string: all of "The cat" does, "The cat " no longer.

This module is light on purpose. A process that leaves compiling to another one imports it and never pynini.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.language.automaton import ByteAutomaton
from engine.language.nondeterministic import NondeterministicAutomaton
from engine.query import Limits, Query

_PARTS = ("prefix", "pattern", "whole")
_ARRAYS = ("transitions", "final", "in_prefix")


@dataclass(frozen=True, eq=False)
class Language:
    """The language `prefix . pattern` of a query.

    prefix, pattern: the minimal automata of the two by themselves, without marks, edits included and excluded strings
    removed. whole: the minimal automaton of the concatenation in product with that of the prefix, so that
    `whole.in_prefix[state]` tells whether the bytes read so far still begin some string of the prefix.

    ways: how prefix and pattern may share the edits of a query, as pairs of automata, fewest edits of the prefix first.
    With one edit in both they are (prefix as it is, pattern within one edit) and (prefix within one edit, pattern as it
    is); the language is the union of their concatenations. Mostly there is one way, (prefix, pattern).
    unedited: prefix and pattern before any edit, None where the query allows no edit.
    excluded: strings that the pattern must not be, where taking them out ahead would have made the automaton too large:
    then prefix, pattern, whole and ways still contain them, and whoever emits a match has to ask. None where
    nothing is left to be asked.
    """

    prefix: ByteAutomaton
    pattern: ByteAutomaton
    whole: ByteAutomaton
    ways: tuple[tuple[ByteAutomaton, ByteAutomaton], ...] = ()
    unedited: tuple[ByteAutomaton, ByteAutomaton] | None = None
    excluded: NondeterministicAutomaton | None = None

    def __post_init__(self) -> None:
        if not self.ways:
            object.__setattr__(self, "ways", ((self.prefix, self.pattern),))

    def to_arrays(self) -> dict[str, Any]:
        """The nine arrays, by names such as "whole.final"."""
        return {f"{part}.{array}": getattr(getattr(self, part), array) for part in _PARTS for array in _ARRAYS}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Language:
        """The language back from `to_arrays`."""
        parts = [ByteAutomaton(*(arrays[f"{part}.{array}"] for array in _ARRAYS)) for part in _PARTS]
        return cls(parts[0], parts[1], parts[2])


#: (query, limits) -> Language, of the query's prefix, pattern, edits and exclude; raises RegexError,
#: EmptyLanguageError, LimitError.
LanguageCompiler = Callable[[Query, Limits], Language]
