"""The language with the tokenizer's knowledge in it: where pre-tokens end, and which tokens may cover what.

Three automata run over the same bytes: the language's (which strings), the UTF-8 decoder (which character class) and
the pre-tokenizer's (where it cuts). Their product, trimmed, accepts the language, and its states say whether a
pre-token ends there. It is nondeterministic as the boundary automaton is, and unambiguous.

For the language `a b` (with the pre-tokens a and ␣b) the states after `a` are two: one that guesses the end of a
pre-token, from which the space goes on, and one that guesses that it goes on, which the trimming removes.

Two forms: all states listed and trimmed, or, for languages such as `.{1,100}` with hundreds of thousands of states,
states numbered by what they are made of and looked at when a walk comes to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from relens.language.automaton import ByteAutomaton
from relens.tokens.boundaries import BoundaryAutomaton
from relens.tokens.encodings import co_reachable
from relens.tokens.ranges import expand
from relens.tokens.utf8_classes import ClassDecoder

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class BoundaryTable:
    """A boundary automaton and its decoder as arrays, made once a tokenizer.

    first, after: the successors of state p on class c are after[first[k] : first[k + 1]] with k = p * (classes + 1) + c
    + 1; class -1, no character completed yet, leads from p to p.
    """

    decoder: ClassDecoder
    classes: int
    states: int
    first: Integers
    after: Integers
    boundary: Booleans
    final: Booleans

    @classmethod
    def of(cls, boundaries: BoundaryAutomaton, decoder: ClassDecoder) -> BoundaryTable:
        """The arrays of a boundary automaton."""
        rows = [targets for state, row in enumerate(boundaries.successors) for targets in ((state,), *row)]
        return cls(
            decoder=decoder,
            classes=boundaries.classes,
            states=len(boundaries.final),
            first=np.concatenate([[0], np.cumsum([len(targets) for targets in rows])]),
            after=np.array([target for targets in rows for target in targets], np.int64),
            boundary=boundaries.boundary,
            final=boundaries.final,
        )


@dataclass(frozen=True, eq=False)
class AnnotatedAutomaton:
    """The trimmed product; state 0 is the start. States number 0 when the language is empty for the tokenizer.

    first, after: the successors of a state on a byte are after[first[k] : first[k + 1]] with k = state * 256 + byte.
    final, boundary, in_prefix: (states,).
    """

    first: Integers
    after: npt.NDArray[np.int32]
    final: Booleans
    boundary: Booleans
    in_prefix: Booleans

    @property
    def states(self) -> int:
        """Number of states."""
        return len(self.final)

    @property
    def number_bound(self) -> int:
        """One more than the greatest number of a state."""
        return self.states

    def follow(self, state: Integers, byte: npt.NDArray[np.uint8]) -> tuple[Integers, Integers]:
        """The successors of state[i] on byte[i]: the i each belongs to, and the states."""
        key = state * 256 + byte
        low = self.first[key]
        owner, position = expand(low, self.first[key + 1] - low)
        return owner, self.after[position].astype(np.int64)

    def at_boundary(self, state: Integers) -> Booleans:
        """(n,) whether a pre-token ends at each state."""
        return self.boundary[state]


class LazyAnnotatedAutomaton:
    """The same product, its states numbered by what they are made of and never listed; so it cannot be trimmed.

    For languages such as `.{1,100}`, whose product has hundreds of thousands of states.
    """

    def __init__(self, automaton: ByteAutomaton, table: BoundaryTable) -> None:
        self._automaton = automaton
        self._table = table
        self._nodes = len(table.decoder.next_node)

    @property
    def number_bound(self) -> int:
        """One more than the greatest number of a state."""
        return self._automaton.states * self._nodes * self._table.states

    def _parts(self, state: Integers) -> tuple[Integers, Integers, Integers]:
        rest, boundary_state = np.divmod(state, self._table.states)
        language_state, node = np.divmod(rest, self._nodes)
        return language_state, node, boundary_state

    def follow(self, state: Integers, byte: npt.NDArray[np.uint8]) -> tuple[Integers, Integers]:
        """The successors of state[i] on byte[i]: the i each belongs to, and the states."""
        table = self._table
        language_state, node, boundary_state = self._parts(state)
        after = self._automaton.transitions[language_state, byte]
        next_node, number = table.decoder.next_node[node, byte], table.decoder.completes[node, byte]
        legal = np.flatnonzero((after >= 0) & ((next_node >= 0) | (number >= 0)))
        key = boundary_state[legal] * (table.classes + 1) + number[legal] + 1
        branch, position = expand(table.first[key], table.first[key + 1] - table.first[key])
        owner = legal[branch]
        pair = after[owner].astype(np.int64) * self._nodes + np.maximum(next_node[owner], 0)
        return owner, pair * table.states + table.after[position]

    def at_boundary(self, state: Integers) -> Booleans:
        """(n,) whether a pre-token ends at each state."""
        _, node, boundary_state = self._parts(state)
        return np.asarray((node == 0) & self._table.boundary[boundary_state])

    def at_end(self, state: Integers) -> Booleans:
        """(n,) whether the text may end at each state."""
        language_state, node, boundary_state = self._parts(state)
        return np.asarray(self._automaton.final[language_state] & (node == 0) & self._table.final[boundary_state])

    def in_prefix(self, state: Integers) -> Booleans:
        """(n,) whether the bytes up to each state still begin some prefix."""
        return self._automaton.in_prefix[self._parts(state)[0]]

    def can_go_on(self, state: Integers) -> Booleans:
        """(n,) whether each state is an end or has a successor; a state that a wrong guess led to often has none."""
        result = self.at_end(state)
        owner, _ = self.follow(np.repeat(state, 256), np.tile(np.arange(256, dtype=np.uint8), len(state)))
        result[owner >> 8] = True
        return result


class Follows(Protocol):
    """What the walk of the trie needs to know of a product."""

    @property
    def number_bound(self) -> int: ...  # noqa: D102

    def follow(self, state: Integers, byte: npt.NDArray[np.uint8]) -> tuple[Integers, Integers]: ...  # noqa: D102

    def at_boundary(self, state: Integers) -> Booleans: ...  # noqa: D102


def annotate(automaton: ByteAutomaton, table: BoundaryTable, most_states: int) -> AnnotatedAutomaton | None:
    """The product of the language, the decoder and the boundary automaton, trimmed; None over `most_states`."""
    pairs, source, byte, destination, number = _decoded(automaton, table.decoder)
    first_of_pair = np.searchsorted(source, np.arange(len(pairs) + 1))
    number_of = np.full(len(pairs) * table.states, -1, np.int64)
    number_of[0] = 0
    visited = [np.zeros(1, np.int64)]
    count = 1
    arcs: list[tuple[Integers, Integers, Integers]] = []
    frontier = visited[0]
    while len(frontier):
        pair, boundary_state = frontier // table.states, frontier % table.states
        owner, arc = expand(first_of_pair[pair], first_of_pair[pair + 1] - first_of_pair[pair])
        key = boundary_state[owner] * (table.classes + 1) + number[arc] + 1
        branch, position = expand(table.first[key], table.first[key + 1] - table.first[key])
        target = destination[arc][branch] * table.states + table.after[position]
        arcs.append((number_of[frontier][owner[branch]], byte[arc[branch]], target))
        frontier = np.unique(target[number_of[target] < 0])
        number_of[frontier] = count + np.arange(len(frontier))
        count += len(frontier)
        visited.append(frontier)
        if count > most_states:
            return None
    states = np.concatenate(visited)
    language_state, node = pairs[states // table.states].T
    final = automaton.final[language_state] & (node == 0) & table.final[states % table.states]
    boundary = (node == 0) & table.boundary[states % table.states]
    arc_source, arc_byte, arc_target = (np.concatenate(column) for column in zip(*arcs, strict=True))
    arc_target = number_of[arc_target]
    alive = co_reachable(arc_source, arc_target, final)
    return _renumbered(alive, arc_source, arc_byte, arc_target, final, boundary, automaton.in_prefix[language_state])


def _decoded(
    automaton: ByteAutomaton, decoder: ClassDecoder
) -> tuple[Integers, Integers, Integers, Integers, Integers]:
    """Language x decoder: (pairs, 2) of states and nodes; arcs by source as pair, byte, pair, class (-1 for none)."""
    nodes = len(decoder.next_node)
    number_of = np.full(automaton.states * nodes, -1, np.int64)
    number_of[0] = 0
    visited = [np.zeros(1, np.int64)]
    count = 1
    arcs: list[tuple[Integers, Integers, Integers, Integers]] = []
    frontier = visited[0]
    while len(frontier):
        state, node = frontier // nodes, frontier % nodes
        after = automaton.transitions[state]
        completes, next_node = decoder.completes[node], decoder.next_node[node]
        row, byte = np.nonzero((after >= 0) & ((completes >= 0) | (next_node >= 0)))
        target = after[row, byte].astype(np.int64) * nodes + np.maximum(next_node[row, byte], 0)
        arcs.append((number_of[frontier][row], byte, target, completes[row, byte].astype(np.int64)))
        frontier = np.unique(target[number_of[target] < 0])
        number_of[frontier] = count + np.arange(len(frontier))
        count += len(frontier)
        visited.append(frontier)
    source, byte, target, completed = (np.concatenate(column) for column in zip(*arcs, strict=True))
    keys = np.concatenate(visited)
    return np.stack([keys // nodes, keys % nodes], axis=1), source, byte, number_of[target], completed


def _renumbered(
    alive: Booleans,
    source: Integers,
    byte: Integers,
    target: Integers,
    final: Booleans,
    boundary: Booleans,
    in_prefix: Booleans,
) -> AnnotatedAutomaton:
    """Only the states that are alive, arcs grouped by (state, byte)."""
    number = np.cumsum(alive) - 1
    kept = alive[source] & alive[target]
    key = number[source[kept]] * 256 + byte[kept]
    order = np.argsort(key, kind="stable")
    count = int(alive.sum())
    return AnnotatedAutomaton(
        first=np.searchsorted(key[order], np.arange(count * 256 + 1)),
        after=number[target[kept]][order].astype(np.int32),
        final=final[alive],
        boundary=boundary[alive],
        in_prefix=in_prefix[alive],
    )
