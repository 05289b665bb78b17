"""The abstract token automaton: a regular language spelled in the model's own tokens.

For the language `cat|cats` and a vocabulary with the tokens c, a, t, s, ca, at, cat and cats, the automaton of all
encodings has the states "", "c", "ca", "cat", "cats" and, among others, the arcs

    "" --cat--> "cat" --s--> "cats"        "" --c--> "c" --at--> "cat"        "" --cats--> "cats"

A search walks it arc by arc with the model. States are small integers that an automaton may invent as they are
reached: canonical encodings of an open language such as `[a-z]+` have far too many to list, and a search visits few.

Laws, which the tests check for every kind of token automaton:
1. every state that can be reached can reach a final state (no dead ends), unless `may_have_dead_ends`;
2. `arcs(state).tokens` is sorted and without repetition, and `step(state, token)` is defined on exactly those;
3. `step` is deterministic: the same state and token give the same state, for ever.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Arcs(NamedTuple):
    """The legal tokens of a state: ids, shape (n,), int32, ascending; and which of them are prefix arcs, (n,), bool."""

    tokens: npt.NDArray[np.int32]
    in_prefix: npt.NDArray[np.bool_]


class TokenAutomaton(ABC):
    """A deterministic automaton over token ids, explored on demand."""

    start: int = 0

    #: True where a final state only means "may be a match", to be settled by `confirm`.
    needs_confirmation: bool = False

    #: True where some beginnings may turn out to have no end, because that is too costly to know ahead.
    may_have_dead_ends: bool = False

    @abstractmethod
    def arcs(self, state: int) -> Arcs:
        """The tokens that are legal from `state`, the same arrays at every call; do not write to them."""

    @abstractmethod
    def step(self, state: int, token: int) -> int:
        """The state after `token`, or -1 where the token is not legal."""

    def destinations(self, state: int, at_least: int | None = None) -> npt.NDArray[np.int64]:
        """The states that the tokens of `arcs(state)` lead to, in the same order; equal to `step` for each of them.

        Shape (n,); with `at_least`, an automaton that has to find them one by one may stop after so many. For uses of a
        whole state, such as a drawing.
        """
        tokens = self.arcs(state).tokens[:at_least]
        return np.fromiter((self.step(state, token) for token in tokens.tolist()), np.int64, len(tokens))

    @abstractmethod
    def is_final(self, state: int) -> bool:
        """Whether the tokens so far spell a string of the language."""

    def confirm(self, token_ids: Sequence[int]) -> bool:
        """Whether a sequence that ends in a final state really belongs (see `needs_confirmation`)."""
        return True

    @property
    def states(self) -> int | None:
        """Number of states, or None where they are made as they are reached."""
        return None

    @property
    def arc_count(self) -> int | None:
        """Number of arcs, or None where they are made as they are reached."""
        return None

    def accepts(self, token_ids: Sequence[int]) -> bool:
        """Whether the automaton accepts exactly this sequence of token ids."""
        state = self.start
        for token in token_ids:
            state = self.step(state, token)
            if state < 0:
                return False
        return self.is_final(state) and self.confirm(token_ids)
