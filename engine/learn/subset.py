"""Subset construction: a deterministic automaton whose states are sets of states.

Of the automaton of `(a|b)*b`, reading b leads to several states at once. So let a *set* of states be one state: all
that a text can lead to.

    {0, 1, ...} --a--> {2, ...} --b--> {4, ..., 9}          final: every set with a final state in it

Begin with what the start reaches silently; ask of each set where each kind of character leads; whatever set comes out
that was not there before is a new state to be asked about. For n states there may be 2^n sets, mostly there are few.
(Rabin and Scott, 1959.) Characters that no arc tells apart are one kind, so there are few to ask about.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.errors import LimitError
from engine.language.characters import Ranges, normalise
from engine.learn.automata import SILENT, Arc, CharacterAutomaton, character_classes, contains

#: The largest automaton of a lesson.
MOST_STATES = 300


class Determinized(NamedTuple):
    """The deterministic automaton, in the order in which its states were met; members: which states each stands for.

    `automaton.arcs` has those of state 0 first, then those of state 1, as they are found when its turn comes.
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
        found: dict[frozenset[int], list[tuple[int, int]]] = {}
        for characters in classes:
            ahead = frozenset(arc.target for arc in leaving if contains(arc.characters, characters))
            if ahead:
                found.setdefault(automaton.closure(ahead), []).extend(characters)
        for reached, characters_there in found.items():
            if reached not in numbers:
                numbers[reached] = len(subsets)
                subsets.append(reached)
            arcs.append(Arc(numbers[subset], numbers[reached], normalise(characters_there)))
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
