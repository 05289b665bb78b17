"""The rule of `ignore_merges` (Llama-3): a whole pre-token that is in the vocabulary is one token, whatever BPE says.

Most tokens are what BPE makes of their bytes anyway, and then the rule changes nothing. For a token such as ` xbc` of
which BPE makes ` x` `bc`, it changes two things for a pre-token that spells it exactly:

    the token itself is right there, from the beginning to the end of a pre-token and nowhere else
    the sequence  x  bc  is wrong there, though every two neighbours may stand side by side

The wrong sequences, one for each such token, make a trie of tokens; a walk keeps its place in that trie from the
beginning of the pre-token on and must not end the pre-token where a wrong sequence ends. Forbidding them makes no
beginning of a pre-token a dead end: the single token spells the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from relens.tokens.merges import PairTest

#: The place at the beginning of a pre-token, and the place of a sequence that begins no wrong one.
BEGINNING = 0
OFF = -1


class WholePreTokens:
    """The trie of wrong sequences. `is_active` is False where the rule changes nothing."""

    def __init__(self, pairs: PairTest, token_bytes: Sequence[bytes | None]) -> None:
        self._places: list[dict[int, int]] = [{}]
        self._wrong: set[int] = set()
        for token, data in enumerate(token_bytes):
            if data and not pairs.is_canonical[token]:
                self._forbid(pairs.encode(data))
        self.allows_any_token = bool(token_bytes)
        self.is_active = bool(self._wrong)
        self._tokens: dict[int, npt.NDArray[np.int32]] = {}

    def _forbid(self, sequence: Sequence[int]) -> None:
        place = BEGINNING
        for token in sequence:
            place = self._places[place].setdefault(token, len(self._places))
            if place == len(self._places):
                self._places.append({})
        if place != BEGINNING:
            self._wrong.add(place)

    def after(self, place: int, token: int) -> int:
        """The place after one more token."""
        return OFF if place == OFF else self._places[place].get(token, OFF)

    def is_wrong(self, place: int) -> bool:
        """Whether a pre-token must not end here."""
        return place in self._wrong

    def tokens(self, place: int) -> npt.NDArray[np.int32]:
        """The tokens that stay in the trie, ascending."""
        if place == OFF:
            return np.zeros(0, np.int32)
        tokens = self._tokens.get(place)
        if tokens is None:
            tokens = self._tokens[place] = np.array(sorted(self._places[place]), np.int32)
        return tokens
