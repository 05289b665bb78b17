"""Prefix and pattern in one token automaton, where the prefix is encoded by itself.

For the prefix `ab?` and the pattern `b`, with the tokens a, b and ab, the walk has to know where the prefix ended:

    a  b       prefix `a`, pattern `b`
    ab b       prefix `ab`, pattern `b`
    a  b  b    prefix `ab` (as a b), pattern `b`; with a canonical prefix this one is not legal

After `a b` the second token may belong to the prefix or to the pattern. So a state is a pair: the state of the prefix
automaton, or none once it has no path for the tokens so far, and the set of pattern states, one for each place where
the prefix could have ended. A token arc is a prefix arc iff the prefix automaton still has a path after it.

Once the prefix is over and one pattern state is left, which for a literal prefix is everything but the prompt itself,
the arcs are those of the pattern automaton: the same arrays, nothing done per arc.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine.tokens.automaton import Arcs, TokenAutomaton

NONE = -1


class QueryAutomaton(TokenAutomaton):
    """The concatenation of two token automata at a token boundary (design: Boundary.TOKEN).

    `pattern` must mark no arc as a prefix arc. There is no dead end where neither part has one, since every string of
    the prefix can be followed by every string of the pattern.
    """

    def __init__(self, prefix: TokenAutomaton, pattern: TokenAutomaton) -> None:
        self._prefix = prefix
        self._pattern = pattern
        self.needs_confirmation = prefix.needs_confirmation or pattern.needs_confirmation
        self.may_have_dead_ends = prefix.may_have_dead_ends or pattern.may_have_dead_ends
        self._members: list[tuple[int, tuple[int, ...]]] = []
        self._numbers: dict[tuple[int, tuple[int, ...]], int] = {}
        self._arcs: dict[int, Arcs] = {}
        self.start = self._number(prefix.start, set())

    def _number(self, prefix_state: int, pattern_states: set[int]) -> int:
        if prefix_state != NONE and self._prefix.is_final(prefix_state):
            pattern_states.add(self._pattern.start)
        return self._intern((prefix_state, tuple(sorted(pattern_states))))

    def _intern(self, members: tuple[int, tuple[int, ...]]) -> int:
        state = self._numbers.get(members)
        if state is None:
            state = self._numbers[members] = len(self._members)
            self._members.append(members)
        return state

    def arcs(self, state: int) -> Arcs:
        """The tokens that are legal from `state`."""
        prefix_state, pattern_states = self._members[state]
        if prefix_state == NONE and len(pattern_states) == 1:
            return self._pattern.arcs(pattern_states[0])
        found = self._arcs.get(state)
        if found is None:
            found = self._arcs[state] = self._merge(prefix_state, pattern_states)
        return found

    def _merge(self, prefix_state: int, pattern_states: tuple[int, ...]) -> Arcs:
        tokens = [self._pattern.arcs(member).tokens for member in pattern_states]
        if prefix_state == NONE:
            merged = np.unique(np.concatenate(tokens))
            return Arcs(merged, np.zeros(len(merged), np.bool_))
        prefix_tokens = self._prefix.arcs(prefix_state).tokens
        merged = np.unique(np.concatenate([prefix_tokens, *tokens]))
        return Arcs(merged, np.isin(merged, prefix_tokens, assume_unique=True))

    def step(self, state: int, token: int) -> int:
        """The state after `token`, or -1."""
        prefix_state, pattern_states = self._members[state]
        if prefix_state == NONE and len(pattern_states) == 1:
            after = self._pattern.step(pattern_states[0], token)
            return after if after < 0 else self._intern((NONE, (after,)))
        next_prefix = NONE if prefix_state == NONE else self._prefix.step(prefix_state, token)
        next_pattern = {self._pattern.step(member, token) for member in pattern_states} - {-1}
        if next_prefix < 0 and not next_pattern:
            return -1
        return self._number(next_prefix, next_pattern)

    def destinations(self, state: int, at_least: int | None = None) -> npt.NDArray[np.int64]:
        """The states that the tokens of `arcs` lead to: those of the parts side by side, each combination once."""
        prefix_state, pattern_states = self._members[state]
        if len(pattern_states) == 1 and (prefix_state == NONE or not len(self._prefix.arcs(prefix_state).tokens)):
            after = self._pattern.destinations(pattern_states[0], at_least)
            combinations, which = np.unique(after, return_inverse=True)
            return np.array([self._number(NONE, {member}) for member in combinations.tolist()], np.int64)[which]
        tokens = self.arcs(state).tokens
        columns = [_aligned(self._pattern, member, tokens) for member in pattern_states]
        columns.insert(0, np.full(len(tokens), NONE, np.int64))
        if prefix_state != NONE:
            columns[0] = _aligned(self._prefix, prefix_state, tokens)
        rows, which = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        numbers = [self._number(first, set(others) - {NONE}) for first, *others in rows.tolist()]
        return np.array(numbers, np.int64)[which]

    def is_final(self, state: int) -> bool:
        """Whether the tokens so far spell a string of prefix . pattern, split at a token boundary."""
        return any(self._pattern.is_final(member) for member in self._members[state][1])

    def confirm(self, token_ids: Sequence[int]) -> bool:
        """Whether some split of the tokens gives a confirmed prefix and a confirmed pattern."""
        if not self.needs_confirmation:
            return True
        return any(
            self._prefix.accepts(token_ids[:end]) and self._pattern.accepts(token_ids[end:])
            for end in range(len(token_ids), -1, -1)
        )


def _aligned(automaton: TokenAutomaton, state: int, tokens: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """The destinations from `state` under each of `tokens`, NONE where a token is not legal there."""
    found = np.full(len(tokens), NONE, np.int64)
    found[np.searchsorted(tokens, automaton.arcs(state).tokens)] = automaton.destinations(state)
    return found
