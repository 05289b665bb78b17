"""The beginning of a text in tokenizers that put a space before it.

SentencePiece encodes `cat` as the token `▁cat`, and decodes `▁cat` to `cat`: the first space of what the tokens spell
is dropped. So the tokens that decode to a string of the language L are those that spell a string of

    " " L  |  { s in L that do not begin with a space }

The second part is there because `c`, `at` without the space decode to `cat` as well. One extra state does it: a new
start that goes to the old start with a space, and elsewhere with the first byte of a string.
"""

from __future__ import annotations

import numpy as np

from relens.language.automaton import ByteAutomaton

SPACE = 0x20


def with_dropped_space(automaton: ByteAutomaton) -> ByteAutomaton:
    """The automaton of what tokens at the start of a text spell, for a tokenizer that drops the first space."""
    start, old_start = automaton.transitions[:1].copy(), 1
    start[start >= 0] += 1
    moved = np.where(automaton.transitions >= 0, automaton.transitions + 1, -1).astype(np.int32)
    start[0, SPACE] = old_start
    return ByteAutomaton(
        transitions=np.concatenate([start, moved]),
        final=np.concatenate([automaton.final[:1], automaton.final]),
        in_prefix=np.concatenate([automaton.in_prefix[:1], automaton.in_prefix]),
    )
