"""Subset construction: a deterministic automaton whose states are sets of states.

In the automaton of `(a|b)*b`, b leads to several states at once. So a *set* of states becomes one state: all states
that a text can lead to.

    {0, 1, ...} --a--> {2, ...} --b--> {4, ..., 9}          final: every set with a final state in it

The first set is the start with its silent arcs. Each set gets an arc for each class of characters, and a set that is
not there yet becomes a new state. n states can have 2^n sets, but mostly there are few. (Rabin and Scott, 1959.)
Characters that are on the same arcs are one class, so there are few classes.
"""

from __future__ import annotations

from typing import NamedTuple

from relens.errors import LimitError
from relens.language.characters import Ranges, normalise
from relens.learn.automata import SILENT, Arc, CharacterAutomaton, character_classes, contains

#: The largest automaton of a lesson.
MOST_STATES = 300


class Determinized(NamedTuple):
    """The deterministic automaton, its states in the order of discovery; members: the states of each set.

    `automaton.arcs` has those of state 0 first, then those of state 1, and so on.
    """

    automaton: CharacterAutomaton
    members: tuple[tuple[int, ...], ...]


def determinized(automaton: CharacterAutomaton, most_states: int = MOST_STATES) -> Determinized:
    """The subset construction; raises `LimitError` over `most_states`."""
    classes = character_classes(sorted({arc.characters for arc in automaton.arcs} - {SILENT}))
    start = automaton.closure([0])
    numbers: dict[frozenset[int], int] = {start: 0}
    subsets = [start]
    arcs: list[Arc] = []
    for subset in subsets:  # which grows meanwhile
        leaving = [arc for state in sorted(subset) for arc in automaton.leaving[state] if arc.characters != SILENT]
        ranges: dict[frozenset[int], list[tuple[int, int]]] = {}
        for characters in classes:
            ahead = frozenset(arc.target for arc in leaving if contains(arc.characters, characters))
            if ahead:
                ranges.setdefault(automaton.closure(ahead), []).extend(characters)
        for reached, label in ranges.items():
            if reached not in numbers:
                numbers[reached] = len(subsets)
                subsets.append(reached)
            arcs.append(Arc(numbers[subset], numbers[reached], normalise(label)))
        if len(subsets) > most_states:
            raise LimitError(
                f"The deterministic automaton of the pattern has more than {most_states} states, more than a lesson "
                "shows.",
                limit="lesson_states",
            )
    finals = frozenset(number for subset, number in numbers.items() if not subset.isdisjoint(automaton.finals))
    return Determinized(
        CharacterAutomaton(len(subsets), finals, tuple(arcs)), tuple(tuple(sorted(subset)) for subset in subsets)
    )


def is_deterministic(automaton: CharacterAutomaton) -> bool:
    """Whether no state has a silent arc, or two arcs for one character."""

    def overlap(one: Ranges, other: Ranges) -> bool:
        return any(low <= past and first <= high for low, high in one for first, past in other)

    return all(
        arc.characters != SILENT and not any(overlap(arc.characters, other.characters) for other in row[place + 1 :])
        for row in automaton.leaving
        for place, arc in enumerate(row)
    )
