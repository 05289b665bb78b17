"""A compiled query language: three byte automata, and the type of the functions that make them.

For the prefix `The (cat|dog)` and the pattern ` sat`, `whole` accepts "The cat sat" and "The dog sat", and its states
know up to where a string still begins some prefix string: all of "The cat" does, "The cat " no longer.

This module is light on purpose. A process that leaves compiling to another one imports it and never pynini.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from relens.language.automaton import ByteAutomaton
from relens.language.nondeterministic import NondeterministicAutomaton
from relens.query import Limits, Query

#: Automata of a prefix and of a pattern that may follow it.
Way = tuple[ByteAutomaton, ByteAutomaton]

_ARRAYS = ("transitions", "final", "in_prefix")
_COLUMNS = ("sources", "lows", "highs", "destinations", "final")


@dataclass(frozen=True, eq=False)
class Language:
    """The language `prefix . pattern` of a query.

    prefix, pattern: the minimal automata of the two by themselves, without marks, edits included and excluded strings
    removed. whole: the minimal automaton of the concatenation in product with that of the prefix, so that
    `whole.in_prefix[state]` says whether the bytes read so far still begin some string of the prefix.

    ways: how prefix and pattern may share the edits of a query, as pairs of automata, fewest edits of the prefix first.
    With one edit in both they are (prefix as it is, pattern within one edit) and (prefix within one edit, pattern as it
    is); the language is the union of their concatenations. Mostly there is one way, (prefix, pattern). Each way's
    pattern contains those of the ways after it, and each prefix those before; a way whose pattern is excluded
    altogether is not there, so that neither part of a way is ever empty.
    unedited: prefix and pattern before any edit and with nothing excluded, None where the query allows no edit.
    excluded: strings that the pattern must not be, where taking them out ahead would have made the automaton too large:
    then prefix, pattern, whole and ways still contain them, and each match has to be checked. None where no check is
    left.
    """

    prefix: ByteAutomaton
    pattern: ByteAutomaton
    whole: ByteAutomaton
    ways: tuple[Way, ...] = ()
    unedited: Way | None = None
    excluded: NondeterministicAutomaton | None = None

    def __post_init__(self) -> None:
        if not self.ways:
            object.__setattr__(self, "ways", ((self.prefix, self.pattern),))

    def to_arrays(self) -> dict[str, Any]:
        """Arrays of numbers and plain JSON, for `relens.language.frames`.

        "automata" lists the parts, each the number of an automaton with arrays such as "0.final": prefix, pattern,
        whole, and then two for each way and for `unedited`. What is one automaton here stays one, and is sent once.
        """
        pairs = [*self.ways, *([self.unedited] if self.unedited else [])]
        parts = [self.prefix, self.pattern, self.whole, *(automaton for pair in pairs for automaton in pair)]
        numbers: dict[int, int] = {}
        message: dict[str, Any] = {}
        for automaton in parts:
            if id(automaton) not in numbers:
                number = numbers[id(automaton)] = len(numbers)
                message.update({f"{number}.{array}": getattr(automaton, array) for array in _ARRAYS})
        message["automata"] = [numbers[id(automaton)] for automaton in parts]
        message["ways"] = len(self.ways)
        if self.excluded is not None:
            message.update({f"excluded.{column}": getattr(self.excluded, column) for column in _COLUMNS})
        return message

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Language:
        """The language back from `to_arrays`."""
        automata = [
            ByteAutomaton(*(arrays[f"{number}.{array}"] for array in _ARRAYS))
            for number in range(max(arrays["automata"]) + 1)
        ]
        prefix, pattern, whole, *paired = (automata[number] for number in arrays["automata"])
        pairs = list(zip(paired[::2], paired[1::2], strict=True))
        ways, unedited = pairs[: arrays["ways"]], pairs[arrays["ways"] :]
        excluded = None
        if "excluded.final" in arrays:
            excluded = NondeterministicAutomaton(*(arrays[f"excluded.{column}"] for column in _COLUMNS))
        return cls(prefix, pattern, whole, tuple(ways), unedited[0] if unedited else None, excluded)


#: (query, limits) -> Language, of the query's prefix, pattern, edits and exclude; raises RegexError,
#: EmptyLanguageError, LimitError.
LanguageCompiler = Callable[[Query, Limits], Language]
