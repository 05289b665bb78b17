"""The laws of a token automaton as assertions, for the tests of every kind of it."""

from __future__ import annotations

from collections import deque

import numpy as np

from relens.tokens.automaton import TokenAutomaton

#: How many destinations of a state are compared with single steps.
MOST_DESTINATIONS = 100


def assert_laws(automaton: TokenAutomaton, most_states: int = 50, most_steps: int = 8) -> None:
    """Assert the three laws of `TokenAutomaton` on the states nearest to the start.

    most_states: how many states are looked at. most_steps: how many tokens of each are followed.
    """
    seen = {automaton.start}
    waiting = deque(seen)
    while waiting:
        state = waiting.popleft()
        tokens, in_prefix = automaton.arcs(state)
        assert tokens.dtype == np.int32
        assert in_prefix.dtype == np.bool_
        assert tokens.shape == in_prefix.shape
        assert (np.diff(tokens) > 0).all(), "tokens ascend, none twice"
        assert np.array_equal(tokens, automaton.arcs(state).tokens), "arcs are the same at every call"
        if len(tokens):
            chosen = np.linspace(0, len(tokens) - 1, most_steps).astype(int)
            sample = tokens[np.union1d(chosen, np.arange(min(2, len(tokens))))]
        else:
            sample = tokens
        destinations = automaton.destinations(state, at_least=MOST_DESTINATIONS)
        assert min(len(tokens), MOST_DESTINATIONS) <= len(destinations) <= len(tokens)
        for few in (0, 1):
            first = automaton.destinations(state, at_least=few)
            assert min(len(tokens), few) <= len(first) <= len(tokens)
            assert np.array_equal(first[:few], destinations[: min(few, len(first))]), "fewer are the first of them"
        for token in sample.tolist():
            after = automaton.step(state, token)
            assert after >= 0, "a legal token leads somewhere"
            assert after == automaton.step(state, token), "the same step leads to the same state"
            position = int(np.searchsorted(tokens, token))
            assert position >= len(destinations) or after == destinations[position]
            if after not in seen and len(seen) < most_states:
                seen.add(after)
                waiting.append(after)
            neighbour = token + 1
            if neighbour not in tokens:
                assert automaton.step(state, neighbour) == -1, "what is not listed is not legal"
        if not automaton.may_have_dead_ends:
            assert can_end(automaton, state), "every state can reach a final state"


def can_end(automaton: TokenAutomaton, state: int, most_states: int = 2_000) -> bool:
    """Whether a final state is found from `state`, depth first; raises AssertionError when that takes too long."""
    seen, stack = {state}, [state]
    while stack:
        here = stack.pop()
        if automaton.is_final(here):
            return True
        assert len(seen) < most_states, "no final state within reach"
        for token in automaton.arcs(here).tokens[:3].tolist():
            after = automaton.step(here, token)
            if after not in seen:
                seen.add(after)
                stack.append(after)
    return False


def paths(automaton: TokenAutomaton) -> list[tuple[int, ...]]:
    """Every token sequence that a finite automaton accepts, each once."""
    accepted = []
    stack: list[tuple[int, tuple[int, ...]]] = [(automaton.start, ())]
    while stack:
        state, tokens = stack.pop()
        if automaton.is_final(state) and automaton.confirm(tokens):
            accepted.append(tokens)
        stack += [(automaton.step(state, token), (*tokens, token)) for token in automaton.arcs(state).tokens.tolist()]
    return accepted
