"""Minimisation: states from which the same texts match become one (Edward Moore, 1956).

In the automaton of `cat|rat` the states after c and after r are two, but from both only "at" leads to a match. The
search is for differences:

    round 0     two groups: states where a match may end, and the others
    round 1     a group falls apart where the same character leads its states into different groups
    ...         until a round finds no difference

Each of the last groups is one state of the minimal automaton. A state from which no match can be reached
belongs to no group: its arcs lead nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from relens.language.characters import Ranges, normalise
from relens.learn.automata import Arc, CharacterAutomaton, character_classes, contains

#: The group of a state from which no match can be reached, and of no state at all.
NOWHERE = -1


class Minimised(NamedTuple):
    """rounds: the group of each state after each round, numbered by their first states; the last one is final.

    automaton: the minimal one, numbered breadth first by the first character of its arcs. merged: the states that each
    of its states stands for.
    """

    rounds: tuple[tuple[int, ...], ...]
    automaton: CharacterAutomaton
    merged: tuple[tuple[int, ...], ...]


def minimised(automaton: CharacterAutomaton) -> Minimised:
    """The minimal automaton of a deterministic one, with the rounds. Of an empty language: one state, no arc."""
    live = _live(automaton)
    classes = character_classes(sorted({arc.characters for arc in automaton.arcs}))
    table = [
        [
            next((arc.target for arc in row if arc.target in live and contains(arc.characters, characters)), NOWHERE)
            for characters in classes
        ]
        for row in automaton.leaving
    ]
    rounds = [_numbered([state in automaton.finals if state in live else None for state in range(automaton.states)])]
    while True:
        groups = rounds[-1]
        signatures = [
            (groups[state], tuple(groups[target] if target != NOWHERE else NOWHERE for target in table[state]))
            if state in live
            else None
            for state in range(automaton.states)
        ]
        finer = _numbered(signatures)
        if finer == groups:
            break
        rounds.append(finer)
    merged_automaton, order = _merged(automaton, classes, table, rounds[-1])
    merged = tuple(
        tuple(state for state, group in enumerate(rounds[-1]) if group == kept and group != NOWHERE) for kept in order
    )
    return Minimised(tuple(rounds), merged_automaton, merged)


def _live(automaton: CharacterAutomaton) -> frozenset[int]:
    """The states from which a match can be reached."""
    live = set(automaton.finals)
    while True:
        new = {arc.source for arc in automaton.arcs if arc.target in live} - live
        if not new:
            return frozenset(live)
        live |= new


def _numbered(signatures: Sequence[object]) -> tuple[int, ...]:
    """The group of each state: those of equal signature together, numbered as they are met; None is `NOWHERE`."""
    numbers: dict[object, int] = {}
    return tuple(
        NOWHERE if signature is None else numbers.setdefault(signature, len(numbers)) for signature in signatures
    )


def _merged(
    automaton: CharacterAutomaton, classes: tuple[Ranges, ...], table: list[list[int]], groups: tuple[int, ...]
) -> tuple[CharacterAutomaton, list[int]]:
    """The automaton of the groups, and the group of each of its states."""
    order = [groups[0]]
    arcs: list[Arc] = []
    for place, group in enumerate(order):  # which grows meanwhile
        if group == NOWHERE:
            break
        row = table[groups.index(group)]
        ranges: dict[int, list[tuple[int, int]]] = {}
        for characters, target in zip(classes, row, strict=True):
            if target != NOWHERE:
                ranges.setdefault(groups[target], []).extend(characters)
        for reached, label in ranges.items():
            if reached not in order:
                order.append(reached)
            arcs.append(Arc(place, order.index(reached), normalise(label)))
    finals = frozenset(place for place, group in enumerate(order) if groups.index(group) in automaton.finals)
    return CharacterAutomaton(len(order), finals, tuple(arcs)), order
