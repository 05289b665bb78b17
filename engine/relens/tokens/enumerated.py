"""Canonical encodings of a small language, whatever the tokenizer: encode every string.

Nothing is simpler, and for the tokenizers that the exact construction does not cover nothing is better: the literal
prefix of a query is a language of one string, and its encoding is one path.

    The (cat|dog)     [The, ▁cat]  [The, ▁dog]      0 --The--> 1 --▁cat--> 2,  1 --▁dog--> 3      final: 2, 3

A string belongs only if its encoding spells it: a normaliser may have changed it, or an unknown character have become
the unknown token. About 13 microseconds a string.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from relens.language.automaton import ByteAutomaton
from relens.language.counting import count_strings
from relens.tokens.automaton import Arcs, TokenAutomaton
from relens.tokens.tokenizer import Tokenizer

#: The most strings that are encoded one by one: a fraction of a second.
MOST_STRINGS = 5_000


class EnumeratedAutomaton(TokenAutomaton):
    """The tree of some token sequences. paths: with, for each of their beginnings, whether it lies in the prefix."""

    def __init__(self, paths: Sequence[tuple[Sequence[int], Sequence[bool]]]) -> None:
        self._after: list[dict[int, int]] = [{}]
        self._in_prefix = [True]
        self._final = [False]
        self._arcs: dict[int, Arcs] = {}
        for tokens, in_prefix in paths:
            state = 0
            for token, is_prefix in zip(tokens, in_prefix, strict=True):
                if token not in self._after[state]:
                    self._after[state][token] = len(self._after)
                    self._after.append({})
                    self._in_prefix.append(is_prefix)
                    self._final.append(False)
                state = self._after[state][token]
            self._final[state] = True

    def arcs(self, state: int) -> Arcs:
        """The tokens that are legal from `state`."""
        arcs = self._arcs.get(state)
        if arcs is None:
            after = self._after[state]
            tokens = sorted(after)
            marks = [self._in_prefix[after[token]] for token in tokens]
            arcs = self._arcs[state] = Arcs(np.array(tokens, np.int32), np.array(marks, np.bool_))
        return arcs

    def step(self, state: int, token: int) -> int:
        """The state after `token`, or -1."""
        return self._after[state].get(token, -1)

    def is_final(self, state: int) -> bool:
        """Whether the tokens so far are one of the sequences."""
        return self._final[state]

    @property
    def is_empty(self) -> bool:
        """Whether there is no sequence at all, not even the empty one."""
        return not any(self._final)

    @property
    def states(self) -> int:
        """Number of states."""
        return len(self._after)

    @property
    def arc_count(self) -> int:
        """Number of arcs; a tree has one less than states."""
        return len(self._after) - 1


def enumerated_encodings(
    automaton: ByteAutomaton, spelled: ByteAutomaton, tokenizer: Tokenizer, continues: bool
) -> EnumeratedAutomaton | None:
    """The canonical encodings of a language of at most `MOST_STRINGS` strings, else None.

    automaton: the language of the text. spelled: of what its tokens spell, which for some tokenizers begins with one
    more space (`text_start`); it says which beginnings lie in the prefix.
    """
    count = count_strings(automaton)
    if count is None or count > MOST_STRINGS:
        return None
    paths = []
    for text in strings(automaton):
        tokens = tokenizer.encode(text, continues=continues)
        if not tokenizer.is_canonical(tokens, continues) or tokenizer.decode(tokens, continues=continues) != text:
            continue
        state, marks = 0, []
        for token in tokens:
            state = spelled.run(tokenizer.vocabulary.token_bytes[token] or b"", state)
            marks.append(state >= 0 and bool(spelled.in_prefix[state]))
        paths.append((tokens, marks))
    return EnumeratedAutomaton(paths)


def strings(automaton: ByteAutomaton) -> Iterator[str]:
    """Every string of a finite language, in the order of its bytes."""
    stack = [(0, b"")]
    while stack:
        state, data = stack.pop()
        if automaton.final[state]:
            yield data.decode()
        row = automaton.transitions[state]
        stack += [(int(row[byte]), data + bytes([byte])) for byte in np.flatnonzero(row >= 0)[::-1].tolist()]
