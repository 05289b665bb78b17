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
from engine.query import Limits

_PARTS = ("prefix", "pattern", "whole")
_ARRAYS = ("transitions", "final", "in_prefix")


@dataclass(frozen=True, eq=False)
class Language:
    """The language `prefix . pattern` of a query.

    prefix, pattern: the minimal automata of the two by themselves, without marks. whole: the minimal automaton of
    the concatenation in product with that of the prefix, so that `whole.in_prefix[state]` tells whether the
    bytes read so far still begin some string of the prefix.
    """

    prefix: ByteAutomaton
    pattern: ByteAutomaton
    whole: ByteAutomaton

    def to_arrays(self) -> dict[str, Any]:
        """The nine arrays, by names such as "whole.final"."""
        return {f"{part}.{array}": getattr(getattr(self, part), array) for part in _PARTS for array in _ARRAYS}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Language:
        """The language back from `to_arrays`."""
        return cls(*(ByteAutomaton(*(arrays[f"{part}.{array}"] for array in _ARRAYS)) for part in _PARTS))


#: (prefix, pattern, limits) -> Language; raises RegexError, EmptyLanguageError, LimitError.
LanguageCompiler = Callable[[str, str, Limits], Language]
