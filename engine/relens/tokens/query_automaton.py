"""Prefix and pattern in one token automaton, where the prefix is encoded by itself.

For the prefix `ab?` and the pattern `b`, with the tokens a, b and ab, the walk has to know where the prefix ended:

    a  b       prefix `a`, pattern `b`
    ab b       prefix `ab`, pattern `b`
    a  b  b    prefix `ab` (as a b), pattern `b`; with a canonical prefix this one is not legal

After `a b` the second token may belong to the prefix or to the pattern. So a state is a pair: the state of the prefix
automaton, or none once it has no path for the tokens so far, and the set of pattern states, one for each place where
the prefix could have ended. A token arc is a prefix arc iff the prefix automaton still has a path after it.

Where prefix and pattern share the edits of a query there are several ways to divide a string, and the language is the
union of prefix_i . pattern_i. With one edit in all:

    way 0    the prefix as it is        the pattern with up to one edit
    way 1    the prefix with one edit   the pattern as it is

So a state keeps a state for the prefix of each way, and a pattern state knows its way. Ways are in the order of
`Language.ways`: each pattern contains those of the ways after it. So where the prefixes of several ways end at once,
the pattern of the first of them says all: after an unedited prefix there is one pattern state, as if there were one
way.

Once the prefix is over and one pattern state is left, which for a literal prefix is everything but the prompt itself,
the arcs are those of the pattern automaton: the same arrays, nothing done per arc.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from relens.tokens.automaton import Arcs, TokenAutomaton

NONE = -1
#: States whose merged arcs are remembered; where the pattern begins with an open class each has tens of thousands.
REMEMBERED_STATES = 1024


class EncodedWay(NamedTuple):
    """One way to divide a string: the token automata of its prefix and of its pattern."""

    prefix: TokenAutomaton
    pattern: TokenAutomaton


#: A way, by its number, and the state of its prefix or pattern automaton.
Member = tuple[int, int]


class _Place(NamedTuple):
    """What a state is made of: the prefixes that still have a path, and the patterns begun. Both ascending."""

    prefixes: tuple[Member, ...]
    patterns: tuple[Member, ...]


class QueryAutomaton(TokenAutomaton):
    """The union of concatenations of two token automata at a token boundary (design: Boundary.TOKEN).

    ways: at least one; the pattern of each contains those of the ways after it. No pattern may mark an arc as a prefix
    arc. There is no dead end where no part has one, since every string of a prefix can be followed by every string of
    its pattern.
    """

    def __init__(self, ways: Sequence[EncodedWay]) -> None:
        self._prefixes = [way.prefix for way in ways]
        self._patterns = [way.pattern for way in ways]
        parts = [*self._prefixes, *self._patterns]
        self.needs_confirmation = any(part.needs_confirmation for part in parts)
        self.may_have_dead_ends = any(part.may_have_dead_ends for part in parts)
        self._places: list[_Place] = []
        self._numbers: dict[_Place, int] = {}
        self._arcs: dict[int, Arcs] = {}
        self.start = self._number([(way, part.start) for way, part in enumerate(self._prefixes)], ())

    def _number(self, prefixes: Iterable[Member], patterns: Iterable[Member]) -> int:
        """The state of these members, with the pattern begun where a prefix ends."""
        prefixes, begun = tuple(prefixes), set(patterns)
        for way, state in prefixes:
            if self._prefixes[way].is_final(state):
                begun.add((way, self._patterns[way].start))
                break  # the patterns of later ways are part of this one
        return self._intern(_Place(prefixes, tuple(sorted(begun))))

    def _intern(self, place: _Place) -> int:
        state = self._numbers.get(place)
        if state is None:
            state = self._numbers[place] = len(self._places)
            self._places.append(place)
        return state

    def _open(self, state: int) -> _Place:
        """The members of a state without prefixes that have ended, as a literal one has where the pattern begins."""
        prefixes, patterns = self._places[state]
        if not prefixes:
            return self._places[state]
        return _Place(tuple(item for item in prefixes if len(self._prefixes[item[0]].arcs(item[1]).tokens)), patterns)

    def arcs(self, state: int) -> Arcs:
        """The tokens that are legal from `state`."""
        arcs = self._arcs.get(state)
        if arcs is None:
            prefixes, patterns = self._open(state)
            if not prefixes and len(patterns) == 1:
                way, member = patterns[0]
                return self._patterns[way].arcs(member)
            arcs = self._merge(prefixes, patterns)
            if len(self._arcs) >= REMEMBERED_STATES:
                self._arcs.pop(next(iter(self._arcs)))
            self._arcs[state] = arcs
        return arcs

    def _merge(self, prefixes: tuple[Member, ...], patterns: tuple[Member, ...]) -> Arcs:
        given = _union([self._prefixes[way].arcs(member).tokens for way, member in prefixes])
        merged = _union([given, *(self._patterns[way].arcs(member).tokens for way, member in patterns)])
        return Arcs(merged, np.isin(merged, given, assume_unique=True))

    def step(self, state: int, token: int) -> int:
        """The state after `token`, or -1."""
        prefixes, patterns = self._places[state]
        if not prefixes and len(patterns) == 1:
            way, member = patterns[0]
            after = self._patterns[way].step(member, token)
            return after if after < 0 else self._intern(_Place((), ((way, after),)))
        next_prefixes = _alive((way, self._prefixes[way].step(member, token)) for way, member in prefixes)
        next_patterns = _alive((way, self._patterns[way].step(member, token)) for way, member in patterns)
        return self._number(next_prefixes, next_patterns) if next_prefixes or next_patterns else -1

    def destinations(self, state: int, at_least: int | None = None) -> npt.NDArray[np.int64]:
        """The states that the tokens of `arcs` lead to: those of the parts side by side, each combination once."""
        prefixes, patterns = self._open(state)
        if not prefixes and len(patterns) == 1:
            way, member = patterns[0]
            after = self._patterns[way].destinations(member, at_least)
            combinations, which = np.unique(after, return_inverse=True)
            numbers = [self._intern(_Place((), ((way, reached),))) for reached in combinations.tolist()]
            return np.array(numbers, np.int64)[which]
        tokens = self.arcs(state).tokens[:at_least]
        columns = [_aligned(self._prefixes[way], member, tokens) for way, member in prefixes]
        columns += [_aligned(self._patterns[way], member, tokens) for way, member in patterns]
        if not columns:
            return np.zeros(0, np.int64)
        rows, which = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        numbers = []
        for row in rows.tolist():
            of_prefixes = _alive((way, after) for (way, _), after in zip(prefixes, row, strict=False))
            of_patterns = _alive((way, after) for (way, _), after in zip(patterns, row[len(prefixes) :], strict=True))
            numbers.append(self._number(of_prefixes, of_patterns))
        return np.array(numbers, np.int64)[which.reshape(-1)]

    def is_final(self, state: int) -> bool:
        """Whether the tokens so far spell a string of some prefix . pattern, split at a token boundary."""
        return any(self._patterns[way].is_final(member) for way, member in self._places[state].patterns)

    def confirm(self, token_ids: Sequence[int]) -> bool:
        """Whether some split of the tokens gives a confirmed prefix and a confirmed pattern."""
        if not self.needs_confirmation:
            return True
        return any(
            prefix.accepts(token_ids[:end]) and pattern.accepts(token_ids[end:])
            for end in range(len(token_ids), -1, -1)
            for prefix, pattern in zip(self._prefixes, self._patterns, strict=True)
        )


def _alive(members: Iterable[Member]) -> list[Member]:
    return [member for member in members if member[1] != NONE]


def _union(tokens: Sequence[npt.NDArray[np.int32]]) -> npt.NDArray[np.int32]:
    if len(tokens) == 1:
        return tokens[0]
    return np.unique(np.concatenate(tokens)) if tokens else np.zeros(0, np.int32)


def _aligned(automaton: TokenAutomaton, state: int, tokens: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """The destinations from `state` under each of `tokens`, NONE where a token is not legal there.

    `tokens` is a beginning of the merged arcs, so what is legal here of greater number is left out.
    """
    legal = automaton.arcs(state).tokens
    count = int(legal.searchsorted(tokens[-1], side="right")) if len(tokens) else 0
    targets = np.full(len(tokens), NONE, np.int64)
    targets[np.searchsorted(tokens, legal[:count])] = automaton.destinations(state, count)[:count]
    return targets
