"""A token automaton that proposes sequences, each of which is checked at the end.

Some languages are easier to check than to walk. Whether a Unigram tokenizer makes `ca t` of `cat` takes one encoding;
whether ` the` is an excluded string takes one run of an automaton that may have too many states to be taken out of the
language ahead. So another automaton is walked as it is, and each sequence that it accepts is checked.

The accepted language is exact, but there may be dead ends: a search may walk into a beginning that no sequence of the
language continues, and learn it only at the end.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from relens.tokens.automaton import Arcs, TokenAutomaton


class CheckedAutomaton(TokenAutomaton):
    """The walk of another automaton; each accepted sequence is checked by `belongs`."""

    needs_confirmation = True
    may_have_dead_ends = True

    def __init__(self, walked: TokenAutomaton) -> None:
        self._walked = walked
        self.start = walked.start

    @abstractmethod
    def belongs(self, token_ids: Sequence[int]) -> bool:
        """Whether a sequence that the walk accepts is in the language."""

    def arcs(self, state: int) -> Arcs:
        """The tokens that may be legal from `state`."""
        return self._walked.arcs(state)

    def step(self, state: int, token: int) -> int:
        """The state after `token`, or -1."""
        return self._walked.step(state, token)

    def destinations(self, state: int, at_least: int | None = None) -> npt.NDArray[np.int64]:
        """The states that the tokens of `arcs(state)` lead to, in the same order."""
        return self._walked.destinations(state, at_least)

    def is_final(self, state: int) -> bool:
        """Whether the walk accepts the tokens so far."""
        return self._walked.is_final(state)

    def confirm(self, token_ids: Sequence[int]) -> bool:
        """Whether the walk confirms the sequence, and it belongs."""
        return self._walked.confirm(token_ids) and self.belongs(token_ids)

    @property
    def states(self) -> int | None:
        """Number of states of the walk."""
        return self._walked.states

    @property
    def arc_count(self) -> int | None:
        """Number of arcs of the walk."""
        return self._walked.arc_count
