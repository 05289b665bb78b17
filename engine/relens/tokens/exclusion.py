"""Excluded strings that are still in the automaton, taken out when a match is found.

Mostly the language of a query comes without the excluded strings. Where that would make it too large, they stay in,
`Language.excluded` knows them, and each match is checked:

    prefix `a b?`    pattern `b? (the|cat)`    excluded: ` the`

`ab cat` belongs. `a the` does not: its pattern is excluded. For `ab the` it depends on the division. With a token
boundary the prefix ends where the pattern's tokens begin, so only the pattern is checked. Where the string is encoded
as one, `ab the` is both `ab` . ` the`, which is excluded, and `a` . `b the`, which is not: it belongs, since one
division that is not excluded is enough.

All divisions are judged together: one run over the bytes finds where a prefix can end, and one run backwards, each in
its pattern and in the excluded strings, from where the rest belongs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from relens.language.automaton import ByteAutomaton
from relens.language.language import Language
from relens.language.nondeterministic import NondeterministicAutomaton
from relens.tokens.automaton import TokenAutomaton
from relens.tokens.checked import CheckedAutomaton
from relens.tokens.tokenizer import Tokenizer

Booleans = npt.NDArray[np.bool_]


class AllowedPattern(CheckedAutomaton):
    """The token automaton of a pattern, each match checked: the pattern begins with a token of its own."""

    def __init__(self, pattern: TokenAutomaton, excluded: NondeterministicAutomaton, tokenizer: Tokenizer) -> None:
        super().__init__(pattern)
        self._excluded = excluded
        self._tokenizer = tokenizer

    def belongs(self, token_ids: Sequence[int]) -> bool:
        """Whether the string of the tokens is not excluded."""
        return not self._excluded.accepts(self._tokenizer.decode_bytes(token_ids, continues=True))


class AllowedWhole(CheckedAutomaton):
    """The token automaton of prefix and pattern as one, each match checked."""

    def __init__(self, whole: TokenAutomaton, language: Language, tokenizer: Tokenizer) -> None:
        super().__init__(whole)
        self._language = language
        self._tokenizer = tokenizer

    def belongs(self, token_ids: Sequence[int]) -> bool:
        """Whether the string of the tokens has a division whose pattern is not excluded."""
        return accepts_text(self._language, self._tokenizer.decode_bytes(token_ids))


def accepts_text(language: Language, text: str | bytes) -> bool:
    """Whether `text` is a prefix followed by a pattern that is not excluded; text that is no valid Unicode never is."""
    if language.excluded is None:
        return language.whole.accepts(text)
    try:
        data = text.encode() if isinstance(text, str) else text
    except UnicodeEncodeError:
        return False
    allowed = ~_excluded_rests(language.excluded, data)
    return any(
        bool((_prefix_ends(prefix, data) & _pattern_rests(pattern, data) & allowed).any())
        for prefix, pattern in language.ways
    )


def _prefix_ends(prefix: ByteAutomaton, data: bytes) -> Booleans:
    """(length + 1,) whether the first so many bytes belong to the prefix."""
    ends = np.zeros(len(data) + 1, np.bool_)
    state = 0
    for position, byte in enumerate(data):
        ends[position] = prefix.final[state]
        state = int(prefix.transitions[state, byte])
        if state < 0:
            return ends
    ends[len(data)] = prefix.final[state]
    return ends


def _pattern_rests(pattern: ByteAutomaton, data: bytes) -> Booleans:
    """(length + 1,) whether what is left after so many bytes belongs to the pattern."""
    rests = np.zeros(len(data) + 1, np.bool_)
    accepting = pattern.final  # the states from which the bytes read backwards so far lead to an end
    rests[len(data)] = accepting[0]
    for position in range(len(data) - 1, -1, -1):
        after = pattern.transitions[:, data[position]]
        accepting = (after >= 0) & accepting[after]
        rests[position] = accepting[0]
    return rests


def _excluded_rests(excluded: NondeterministicAutomaton, data: bytes) -> Booleans:
    """(length + 1,) whether what is left after so many bytes is excluded."""
    rests = np.zeros(len(data) + 1, np.bool_)
    accepting = excluded.final
    rests[len(data)] = accepting[0]
    for position in range(len(data) - 1, -1, -1):
        read = (excluded.lows <= data[position]) & (data[position] <= excluded.highs) & accepting[excluded.destinations]
        accepting = np.zeros_like(accepting)
        accepting[excluded.sources[read]] = True
        rests[position] = accepting[0]
    return rests
