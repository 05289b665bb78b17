"""Automata as pictures: few states, merged arcs, and a note on the parts left out.

The automaton of all encodings of ` [a-z]+` has two states and 30,000 arcs; that of the canonical ones has a state for
nearly every token. To draw either, parallel arcs become one with a label (`relens.pictures.labels`), states are taken
breadth first from the start, and the rest is summed up: from each drawn state at most one arc leads to a state that
stands for everything not drawn there.

    0 --␣--> 1 --[a-z]--> 2 --[a-z]--> 2          language graph
    0 --23,276 tokens: ␣a, ␣the, ␣in, …--> 1      token graph

States with a single way on, such as those inside a literal prefix, do not count towards the limits of a picture, and
neither do their arcs, because a picture can join them into one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from relens.language.automaton import ByteAutomaton
from relens.language.characters import Ranges, normalise
from relens.pictures.character_arcs import CharacterArcs
from relens.pictures.labels import characters_label, count_characters, tokens_label
from relens.record import Record
from relens.tokens.automaton import TokenAutomaton
from relens.tokens.tokenizer import Tokenizer

#: The most states of a picture for each state that counts.
CHAIN_FACTOR = 6
#: The most arcs of a picture for each state that counts.
ARC_FACTOR = 4
#: The arcs of a state that are followed where the automaton has to follow them one by one.
FOLLOWED_ARCS = 64
#: A state with more ways than a picture can show has so many of them drawn, and counts for so many states: a few
#: examples of an endless set say as much as many.
SAMPLE_TARGETS, WIDE_COST = 3, 4

Items = TypeVar("Items")


@dataclass(frozen=True)
class GraphArc(Record):
    """One drawn arc: `count` parallel arcs of the automaton from `source` to `target` under one label.

    The label is plain text for people (a space is `␣`, a line break `\\n`), not escaped for any output format.
    in_prefix: the arc belongs to the query's prefix.
    """

    source: int
    target: int
    label: str
    count: int
    in_prefix: bool


@dataclass(frozen=True)
class Graph(Record):
    """An automaton to draw: states 0 to shown_states - 1, with `start` and the accepting `finals`.

    unfinished: states that stand for everything not drawn beyond the arc that leads to them. total_states, total_arcs:
    of the automaton itself (of the language graph: over characters, parallel arcs merged), None where they are unknown
    without making them all. note: the parts left out and why, "" where everything is drawn.
    """

    start: int
    finals: tuple[int, ...]
    shown_states: int
    arcs: tuple[GraphArc, ...]
    unfinished: tuple[int, ...]
    total_states: int | None
    total_arcs: int | None
    note: str


@dataclass(frozen=True)
class Bundle(Generic[Items]):
    """Parallel arcs to one state (None: to several states), and the items they read."""

    target: int | None
    in_prefix: bool
    items: Items


@dataclass(frozen=True)
class Drawable(Generic[Items]):
    """The parts of an automaton that a picture needs. `bundles` are in drawing order."""

    start: int
    bundles: Callable[[int], Sequence[Bundle[Items]]]
    is_final: Callable[[int], bool]
    label: Callable[[Items], str]
    count: Callable[[Items], int]
    merge: Callable[[Sequence[Items]], Items]


def language_graph(automaton: ByteAutomaton, max_states: int = 60) -> Graph:
    """The automaton of a language over characters, at most about `max_states` branching states of it."""
    return numbered_language_graph(automaton, max_states)[0]


def numbered_language_graph(automaton: ByteAutomaton, max_states: int = 60) -> tuple[Graph, dict[int, int]]:
    """`language_graph`, and the number that each drawn state of the automaton has in the picture."""
    characters = CharacterArcs(automaton)

    def bundles(state: int) -> list[Bundle[Ranges]]:
        return [
            Bundle(target, bool(automaton.in_prefix[target]), ranges)
            for target, ranges in characters.leaving(state).items()
        ]

    drawing = _Drawing(
        Drawable(
            start=0,
            bundles=bundles,
            is_final=lambda state: bool(automaton.final[state]),
            label=characters_label,
            count=count_characters,
            merge=lambda parts: normalise(pair for ranges in parts for pair in ranges),
        ),
        max_states,
    )
    return drawing.graph(characters.states, None), drawing.numbers


def token_graph(automaton: TokenAutomaton, tokenizer: Tokenizer, max_states: int = 60) -> Graph:
    """The automaton over a model's tokens, at most about `max_states` branching states of it."""
    return numbered_token_graph(automaton, tokenizer, max_states)[0]


def numbered_token_graph(
    automaton: TokenAutomaton, tokenizer: Tokenizer, max_states: int = 60
) -> tuple[Graph, dict[int, int]]:
    """`token_graph`, and the number that each drawn state of the automaton has in the picture."""

    def bundles(state: int) -> list[Bundle[npt.NDArray[np.int32]]]:
        return _token_bundles(automaton, state)

    drawing = _Drawing(
        Drawable(
            start=automaton.start,
            bundles=bundles,
            is_final=automaton.is_final,
            label=lambda tokens: tokens_label(tokens.tolist(), tokenizer),
            count=len,
            merge=lambda parts: np.sort(np.concatenate(parts)),
        ),
        max_states,
    )
    return drawing.graph(automaton.states, automaton.arc_count), drawing.numbers


def _token_bundles(automaton: TokenAutomaton, state: int) -> list[Bundle[npt.NDArray[np.int32]]]:
    """The arcs of a state by destination, those with the commonest tokens (the smallest ids) first."""
    tokens, in_prefix = automaton.arcs(state)
    destinations = automaton.destinations(state, at_least=FOLLOWED_ARCS)
    known = len(destinations)
    rest = [
        Bundle(None, mark, beyond) for mark in (True, False) if len(beyond := tokens[known:][in_prefix[known:] == mark])
    ]
    tokens, in_prefix = tokens[:known], in_prefix[:known]
    # One number for destination and mark; a stable sort keeps the tokens of each group ascending.
    keys = 2 * destinations + in_prefix
    order = np.argsort(keys, kind="stable")
    cuts = np.flatnonzero(np.diff(keys[order])) + 1
    groups = [group for group in np.split(order, cuts) if len(group)]
    groups.sort(key=lambda group: int(group[0]))
    return [Bundle(int(destinations[group[0]]), bool(in_prefix[group[0]]), tokens[group]) for group in groups] + rest


@dataclass
class _Drawing(Generic[Items]):
    """A picture in the making."""

    automaton: Drawable[Items]
    max_states: int
    numbers: dict[int, int] = field(default_factory=dict)
    bundles: dict[int, Sequence[Bundle[Items]]] = field(default_factory=dict)
    arcs: list[GraphArc] = field(default_factory=list)
    unfinished: list[int] = field(default_factory=list)
    shown: int = 0
    counted: int = 0
    counted_arcs: int = 0

    def graph(self, total_states: int | None, total_arcs: int | None) -> Graph:
        """Draw, breadth first."""
        waiting = [self.automaton.start]
        self._show(self.automaton.start)
        for state in waiting:  # which grows meanwhile
            waiting += self._draw_arcs(state)
        if not self.unfinished:
            total_states = total_states or len(self.numbers)
            total_arcs = total_arcs or sum(arc.count for arc in self.arcs)
        return Graph(
            start=self.numbers[self.automaton.start],
            finals=tuple(number for state, number in self.numbers.items() if self.automaton.is_final(state)),
            shown_states=self.shown,
            arcs=tuple(self.arcs),
            unfinished=tuple(self.unfinished),
            total_states=total_states,
            total_arcs=total_arcs,
            note=self._note(total_states),
        )

    def _draw_arcs(self, state: int) -> list[int]:
        """Draw the arcs of one state; returns the newly drawn states."""
        bundles = self.bundles.pop(state)
        room = SAMPLE_TARGETS if self._is_wide(bundles) else len(bundles)
        new: list[int] = []
        hidden: dict[bool, list[Items]] = {}
        for bundle in bundles:
            target = bundle.target
            if target is None or not (
                self._has_room_for_arcs(len(bundles))
                and (target in self.numbers or (len(new) < room and self._has_room_for_states()))
            ):
                hidden.setdefault(bundle.in_prefix, []).append(bundle.items)
                continue
            if target not in self.numbers:
                self._show(target)
                new.append(target)
            self._draw(state, self.numbers[target], bundle.items, bundle.in_prefix)
            self.counted_arcs += len(bundles) > 1
        if hidden:
            self.unfinished.append(self.shown)
            self.shown += 1
            for in_prefix, parts in hidden.items():
                self._draw(state, self.unfinished[-1], self.automaton.merge(parts), in_prefix)
        return new

    def _is_wide(self, bundles: Sequence[Bundle[Items]]) -> bool:
        """Whether a state has more ways than a picture can show: then only a few are drawn."""
        return len(bundles) > self.max_states or any(bundle.target is None for bundle in bundles)

    def _has_room_for_states(self) -> bool:
        return self.counted < self.max_states and len(self.numbers) < CHAIN_FACTOR * self.max_states

    def _has_room_for_arcs(self, ways: int) -> bool:
        return ways == 1 or self.counted_arcs < ARC_FACTOR * self.max_states

    def _show(self, state: int) -> None:
        bundles = self.bundles[state] = self.automaton.bundles(state)
        self.numbers[state] = self.shown
        self.shown += 1
        if len(bundles) != 1:
            self.counted += WIDE_COST if self._is_wide(bundles) else 1

    def _draw(self, source: int, target: int, items: Items, in_prefix: bool) -> None:
        label, count = self.automaton.label(items), self.automaton.count(items)
        self.arcs.append(GraphArc(self.numbers[source], target, label, count, in_prefix))

    def _note(self, total_states: int | None) -> str:
        if not self.unfinished:
            return ""
        among = f" of {total_states:,}" if total_states is not None else ""
        return (
            f"{len(self.numbers):,}{among} states are drawn, the nearest to the start; "
            "a state marked … stands for all states beyond it."
        )
