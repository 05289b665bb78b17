"""Small automata over characters, plain enough to be drawn and read.

The automata of the engine are tables of bytes. The arcs of a lesson bear what the expression has, a set of characters,
or nothing (ε):

    a|b        0 --ε--> 1 --a--> 2 --ε--> 5        final: 5
               0 --ε--> 3 --b--> 4 --ε--> 5

Nothing here is fast: each construction bounds the size of its automaton.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from relens.language.characters import Ranges, normalise

#: The characters of a silent arc.
SILENT: Ranges = ()


class Arc(NamedTuple):
    """From `source` to `target` on one character of the set, or on none of them where the set is `SILENT`."""

    source: int
    target: int
    characters: Ranges


@dataclass(frozen=True)
class CharacterAutomaton:
    """States 0 to states - 1, of which 0 is the start; deterministic or not."""

    states: int
    finals: frozenset[int]
    arcs: tuple[Arc, ...]

    @cached_property
    def leaving(self) -> tuple[tuple[Arc, ...], ...]:
        """The arcs of each state, in their order."""
        rows: list[list[Arc]] = [[] for _ in range(self.states)]
        for arc in self.arcs:
            rows[arc.source].append(arc)
        return tuple(map(tuple, rows))

    def closure(self, states: Iterable[int]) -> frozenset[int]:
        """The states, and all states that silent arcs lead to from them."""
        reached = set(states)
        waiting = list(reached)
        while waiting:
            for arc in self.leaving[waiting.pop()]:
                if arc.characters == SILENT and arc.target not in reached:
                    reached.add(arc.target)
                    waiting.append(arc.target)
        return frozenset(reached)

    def step(self, states: Iterable[int], character: str) -> frozenset[int]:
        """The states after one character from any of the states, silent arcs after it included."""
        code = ord(character)
        return self.closure(
            arc.target
            for state in states
            for arc in self.leaving[state]
            if any(low <= code <= high for low, high in arc.characters)
        )

    def accepts(self, text: str) -> bool:
        """Whether the whole of `text` can be read from the start to a final state."""
        states = self.closure([0])
        for character in text:
            states = self.step(states, character)
        return not states.isdisjoint(self.finals)


def character_classes(labels: Sequence[Ranges]) -> tuple[Ranges, ...]:
    """The characters of all labels in the fewest disjoint classes, none of which a label cuts in two, in order."""
    bounds = sorted({bound for ranges in labels for low, high in ranges for bound in (low, high + 1)})
    place = {bound: index for index, bound in enumerate(bounds)}
    owners: list[list[int]] = [[] for _ in bounds]
    for number, ranges in enumerate(labels):
        for low, high in ranges:
            for index in range(place[low], place[high + 1]):
                owners[index].append(number)
    classes: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for index, owning in enumerate(owners):
        if owning:
            classes.setdefault(tuple(owning), []).append((bounds[index], bounds[index + 1] - 1))
    return tuple(sorted(map(normalise, classes.values())))


def contains(characters: Ranges, part: Ranges) -> bool:
    """Whether a class of `character_classes`, which no label cuts in two, lies in a label."""
    first = part[0][0]
    return any(low <= first <= high for low, high in characters)
