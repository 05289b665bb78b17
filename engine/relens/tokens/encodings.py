"""All encodings of a language: every token sequence whose bytes the language's automaton accepts.

For `cat` and the tokens c, a, t, ca, at and cat there are four: `c a t`, `ca t`, `c at` and `cat`. The states are
those of the byte automaton, and its token arcs come from `trie_walk`. Over the limit of arcs they are found as they are
reached.

Dead ends exist only where the vocabulary lacks a byte: if every byte the automaton uses has a token of its own, each
path of bytes is a path of tokens too. Otherwise states that cannot reach a final state by tokens are removed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from relens.errors import LimitError, NoEncodingError
from relens.language.automaton import ByteAutomaton
from relens.tokens.automaton import Arcs, TokenAutomaton
from relens.tokens.ranges import expand
from relens.tokens.trie_walk import TokenArcs, estimate_arcs, walk
from relens.tokens.vocabulary import Trie, Vocabulary

Integers = npt.NDArray[np.int32]
Booleans = npt.NDArray[np.bool_]

#: States whose arcs a lazy automaton remembers; an open class has tens of thousands of arcs a state.
REMEMBERED_STATES = 4096


class EncodingsAutomaton(TokenAutomaton):
    """All encodings of a language, every arc in memory. The states are those of the byte automaton that remain."""

    def __init__(self, automaton: ByteAutomaton, arcs: TokenArcs) -> None:
        self._first_arc = arcs.first_arc.tolist()
        self._tokens = arcs.tokens
        self._destinations = arcs.destinations
        self._in_prefix = automaton.in_prefix[arcs.destinations]
        self._final = automaton.final
        self._states = int(np.count_nonzero(np.diff(arcs.first_arc))) + _final_leaves(automaton, arcs)
        self._arcs: dict[int, Arcs] = {}

    def arcs(self, state: int) -> Arcs:
        """The tokens that are legal from `state`."""
        arcs = self._arcs.get(state)
        if arcs is None:
            row = slice(self._first_arc[state], self._first_arc[state + 1])
            arcs = self._arcs[state] = Arcs(self._tokens[row], self._in_prefix[row])
        return arcs

    def step(self, state: int, token: int) -> int:
        """The state after `token`, or -1."""
        tokens = self.arcs(state).tokens
        position = int(tokens.searchsorted(np.int32(token)))
        if position == len(tokens) or tokens[position] != token:
            return -1
        return int(self._destinations[self._first_arc[state] + position])

    def destinations(self, state: int, at_least: int | None = None) -> npt.NDArray[np.int64]:
        """The states that the tokens of `arcs` lead to."""
        return self._destinations[self._first_arc[state] : self._first_arc[state + 1]].astype(np.int64)

    def is_final(self, state: int) -> bool:
        """Whether the tokens so far spell a string of the language."""
        return bool(self._final[state])

    @property
    def states(self) -> int | None:
        """Number of states that have an arc or are final."""
        return self._states

    @property
    def arc_count(self) -> int | None:
        """Number of arcs."""
        return len(self._tokens)


class LazyEncodingsAutomaton(TokenAutomaton):
    """All encodings of a language, the arcs of a state found when it is reached.

    Only for automata whose every state can go on to a final state byte by byte, so that no arc is a dead end.
    """

    def __init__(self, automaton: ByteAutomaton, trie: Trie) -> None:
        self._automaton = automaton
        self._trie = trie
        self._rows: dict[int, tuple[Arcs, Integers]] = {}

    def _row(self, state: int) -> tuple[Arcs, Integers]:
        row = self._rows.get(state)
        if row is None:
            _, tokens, destinations = walk(self._automaton.transitions, self._trie, np.array([state], np.int32))
            if len(self._rows) >= REMEMBERED_STATES:
                self._rows.pop(next(iter(self._rows)))  # the oldest; it can be made again
            row = self._rows[state] = (Arcs(tokens, self._automaton.in_prefix[destinations]), destinations)
        return row

    def arcs(self, state: int) -> Arcs:
        """The tokens that are legal from `state`."""
        return self._row(state)[0]

    def step(self, state: int, token: int) -> int:
        """The state after `token`, or -1."""
        arcs, destinations = self._row(state)
        position = int(arcs.tokens.searchsorted(np.int32(token)))
        if position == len(arcs.tokens) or arcs.tokens[position] != token:
            return -1
        return int(destinations[position])

    def destinations(self, state: int, at_least: int | None = None) -> npt.NDArray[np.int64]:
        """The states that the tokens of `arcs` lead to."""
        return self._row(state)[1].astype(np.int64)

    def is_final(self, state: int) -> bool:
        """Whether the tokens so far spell a string of the language."""
        return bool(self._automaton.final[state])


def all_encodings(automaton: ByteAutomaton, vocabulary: Vocabulary, most_arcs: int) -> TokenAutomaton:
    """Every token sequence that spells a string of the language (ReLM section 3.2, "all encodings").

    Over `most_arcs` (estimated before anything is allocated) the arcs are found as they are reached. Raises
    `NoEncodingError` when the vocabulary can spell no string of the language, and `LimitError` when the language is
    over the limit and dead ends would have to be looked for among all its arcs.
    """
    trie = vocabulary.trie
    if estimate_arcs(automaton, trie) > most_arcs:
        if not _spelled_by_bytes(automaton, vocabulary.single_bytes).all():
            raise LimitError(
                f"The language has more than {most_arcs:,} token arcs and needs bytes that have no token of their own.",
                limit="token_arcs",
            )
        return LazyEncodingsAutomaton(automaton, trie)
    arcs = walk(automaton.transitions, trie)
    used = (automaton.transitions >= 0).any(axis=0)
    if not vocabulary.single_bytes[used].all():
        arcs = trim(arcs, automaton.final)
        if not automaton.final[0] and arcs.first_arc[1] == 0:
            raise NoEncodingError("No string of this language can be spelled with the tokens of this vocabulary.")
    return EncodingsAutomaton(automaton, arcs)


def _spelled_by_bytes(automaton: ByteAutomaton, single_bytes: Booleans) -> Booleans:
    """(states,) whether a final state can be reached through bytes that have a token of their own."""
    source, byte = np.nonzero((automaton.transitions >= 0) & single_bytes)
    return co_reachable(source, automaton.transitions[source, byte].astype(np.int64), automaton.final)


def trim(arcs: TokenArcs, final: Booleans, start: int = 0) -> TokenArcs:
    """Only the arcs between states that can be reached from `start` and can reach a final state."""
    count = len(final)
    source = np.repeat(np.arange(count), np.diff(arcs.first_arc))
    edge = np.unique(source * count + arcs.destinations)  # parallel arcs count once
    edge_source, edge_destination = edge // count, edge % count
    useful = co_reachable(edge_source, edge_destination, final)
    begin = np.zeros(count, np.bool_)
    begin[start] = True
    useful &= co_reachable(edge_destination, edge_source, begin)
    kept = useful[source] & useful[arcs.destinations]
    first_arc = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(source[kept], minlength=count), out=first_arc[1:])
    return TokenArcs(first_arc, arcs.tokens[kept], arcs.destinations[kept])


def co_reachable(source: npt.NDArray[np.int64], destination: npt.NDArray[np.int64], goal: Booleans) -> Booleans:
    """(states,) from which states a state of `goal` can be reached; each arc is looked at once."""
    order = np.argsort(destination, kind="stable")
    first = np.searchsorted(destination[order], np.arange(len(goal) + 1))
    source = source[order]
    reached = goal.copy()
    frontier = np.flatnonzero(goal)
    while len(frontier):
        _, arc = expand(first[frontier], first[frontier + 1] - first[frontier])
        before = source[arc]
        frontier = np.unique(before[~reached[before]])
        reached[frontier] = True
    return reached


def _final_leaves(automaton: ByteAutomaton, arcs: TokenArcs) -> int:
    """How many states end here: final, without arcs, and the destination of one (or the start)."""
    leaf = np.diff(arcs.first_arc) == 0
    seen = np.zeros(automaton.states, np.bool_)
    seen[arcs.destinations] = True
    seen[0] = True
    return int(np.count_nonzero(leaf & seen & automaton.final))
