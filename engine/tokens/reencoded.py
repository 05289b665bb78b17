"""Canonical encodings of tokenizers that the exact construction does not cover: propose, then ask the tokenizer.

A Unigram tokenizer picks the segmentation of greatest total score. Whether `ca t` is the one for `cat` cannot be told
from neighbouring tokens alone, so the automaton here walks all encodings of the language and settles the question at
the end: `confirm` encodes the text once more and compares.

    ca t   final, so asked:   encode("cat") = [cat] != [ca, t]    refused
    cat    final, so asked:   encode("cat") = [cat]               confirmed

What is accepted is exact. What is given up is the law of no dead ends: a search may walk into a beginning that no
canonical encoding continues, and learn it only at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine.tokens.automaton import Arcs, TokenAutomaton
from engine.tokens.tokenizer import Tokenizer


class ReencodedAutomaton(TokenAutomaton):
    """The walk of another automaton, with every acceptance checked against the tokenizer itself."""

    needs_confirmation = True

    def __init__(self, proposed: TokenAutomaton, tokenizer: Tokenizer, continues: bool) -> None:
        self._proposed = proposed
        self._tokenizer = tokenizer
        self._continues = continues
        self.start = proposed.start

    def arcs(self, state: int) -> Arcs:
        """The tokens that may be legal from `state`."""
        return self._proposed.arcs(state)

    def step(self, state: int, token: int) -> int:
        """The state after `token`, or -1."""
        return self._proposed.step(state, token)

    def destinations(self, state: int, at_least: int | None = None) -> npt.NDArray[np.int64]:
        """The states that the tokens of `arcs(state)` lead to, in the same order."""
        return self._proposed.destinations(state, at_least)

    def is_final(self, state: int) -> bool:
        """Whether the tokens so far spell a string of the language."""
        return self._proposed.is_final(state)

    def confirm(self, token_ids: Sequence[int]) -> bool:
        """Whether the tokenizer gives exactly these tokens for the text that they spell."""
        return self._proposed.confirm(token_ids) and self._tokenizer.is_canonical(token_ids, self._continues)

    @property
    def states(self) -> int | None:
        """Number of states of the walk."""
        return self._proposed.states

    @property
    def arc_count(self) -> int | None:
        """Number of arcs of the walk."""
        return self._proposed.arc_count
