"""A walk through an automaton, crossing by crossing: the ways on, and the probability of each by two rules.

    The, within one edit, at the start:      [everything else]   93 characters, 186 of 663 strings
                                             T                    1 character,  474 of 663 strings
                                             h                    1 character,    3 of 663 strings: the T is missing

    by strings    186/663   474/663   3/663         by edges    93/95   1/95   1/95

The automaton is over bytes, a walk goes by characters (`relens.pictures.character_arcs`). By edges the bytes of a
character are drawn one after the other, and the probability of the character is their product.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from relens.language.automaton import ByteAutomaton
from relens.language.characters import Ranges
from relens.language.counting import describe_count
from relens.pictures.character_arcs import CharacterArcs
from relens.pictures.labels import characters_label, count_characters
from relens.record import Record


@dataclass(frozen=True)
class Turn(Record):
    """One way on from a state: by the characters of an arc, or ("" and no target) to stop there.

    count: of characters; walks: of strings on that way. by_strings, by_edges: probability of the whole bundle. target:
    in the picture, None for a state that is not drawn and for the stop.
    """

    label: str
    target: int | None
    count: int
    walks: str
    by_strings: float
    by_edges: float


@dataclass(frozen=True)
class Crossing(Record):
    """A state on some walk, by its number in the picture (None: not drawn), and the ways on from it."""

    state: int | None
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Walk(Record):
    """One walk: its string; for each of its characters, and for the stop, the crossing and the turn taken."""

    text: str
    crossings: tuple[int, ...]
    turns: tuple[int, ...]


class Atlas:
    """The states between characters of a finite language, their ways on, and walks through them.

    crossings: the states on walks so far. numbers: of the drawn states.
    """

    def __init__(self, automaton: ByteAutomaton, numbers: dict[int, int]) -> None:
        self.crossings: list[Crossing] = []
        self._automaton = automaton
        self._arcs = CharacterArcs(automaton)
        self._numbers = numbers
        self._places: dict[int, int] = {}
        self._ways: dict[int, list[tuple[int, Ranges]]] = {}
        self._walks: dict[int, int] = {}

    def walk(self, text: str) -> Walk:
        """The walk that spells a text of the language."""
        state, crossings, turns = 0, [], []
        for character in text:
            crossings.append(self._crossing(state))
            target = self._automaton.run(character.encode(), state)
            turns.append(next(place for place, (end, _) in enumerate(self._ways[state]) if end == target))
            state = target
        crossings.append(self._crossing(state))
        return Walk(text, tuple(crossings), (*turns, len(self._ways[state])))

    def _crossing(self, state: int) -> int:
        """The place of a state among the crossings."""
        if state not in self._places:
            self._places[state] = len(self.crossings)
            self.crossings.append(self._described(state))
        return self._places[state]

    def _described(self, state: int) -> Crossing:
        self._ways[state] = ways = list(self._arcs.leaving(state).items())
        everything, by_edges = self._count(state), dict(self._edges_from(state))
        turns = []
        for target, ranges in ways:
            count = count_characters(ranges)
            walks = count * self._count(target)
            turns.append(
                Turn(
                    label=characters_label(ranges),
                    target=self._numbers.get(target),
                    count=count,
                    walks=describe_count(walks),
                    by_strings=walks / everything,
                    by_edges=float(by_edges[target]),
                )
            )
        if self._automaton.final[state]:
            turns.append(Turn("", None, 1, "1", 1 / everything, float(self._coin(state))))
        return Crossing(self._numbers.get(state), tuple(turns))

    def _count(self, state: int) -> int:
        """How many strings lead from a state to the end."""
        if state not in self._walks:
            row = self._automaton.transitions[state]
            behind = sum(self._count(target) for target in row[row >= 0].tolist())
            self._walks[state] = int(self._automaton.final[state]) + behind
        return self._walks[state]

    def _coin(self, state: int) -> Fraction:
        """The probability by edges of each way on from a state, and of the stop."""
        legal = int(np.count_nonzero(self._automaton.transitions[state] >= 0))
        return Fraction(1, legal + int(self._automaton.final[state]))

    def _edges_from(self, state: int) -> Counter[int]:
        """The next states between characters, each with its probability by edges."""
        reached: Counter[int] = Counter()
        for target, share in self._bytes_from(state, Fraction(1)):
            reached[target] += share  # type: ignore[assignment]  # as above
        return reached

    def _bytes_from(self, state: int, share: Fraction) -> Iterator[tuple[int, Fraction]]:
        """Byte by byte, until a character is complete: a state that has an arc from 80 to BF is inside of one."""
        row = self._automaton.transitions[state]
        each = share * self._coin(state)
        for target in row[row >= 0].tolist():
            if np.any(self._automaton.transitions[target, 0x80:0xC0] >= 0):
                yield from self._bytes_from(target, each)
            else:
                yield target, each
