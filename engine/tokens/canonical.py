"""Canonical encodings."""

from __future__ import annotations

from engine.language.automaton import ByteAutomaton
from engine.query import Limits
from engine.tokens.automaton import TokenAutomaton
from engine.tokens.encodings import all_encodings
from engine.tokens.reencoded import ReencodedAutomaton
from engine.tokens.text_start import with_dropped_space
from engine.tokens.tokenizer import Tokenizer


def canonical_encodings(
    automaton: ByteAutomaton, tokenizer: Tokenizer, limits: Limits, continues: bool
) -> TokenAutomaton:
    """The canonical encodings of a language."""
    spelled = with_dropped_space(automaton) if tokenizer.drops_first_space and not continues else automaton
    return ReencodedAutomaton(all_encodings(spelled, tokenizer.vocabulary, limits.token_arcs), tokenizer, continues)
