"""A language in the encoding of a query: the one choice between `encodings` and `canonical`.

cat|cats    ALL          every sequence of tokens that spells one of the two
            CANONICAL    the two sequences of the tokenizer
"""

from __future__ import annotations

import numpy as np

from relens.errors import NoEncodingError
from relens.language.automaton import ByteAutomaton
from relens.query import Encoding, Limits
from relens.tokens.automaton import TokenAutomaton
from relens.tokens.canonical import canonical_encodings
from relens.tokens.encodings import all_encodings
from relens.tokens.enumerated import EnumeratedAutomaton, enumerated_encodings
from relens.tokens.text_start import with_dropped_space
from relens.tokens.tokenizer import Tokenizer


def token_automaton(
    automaton: ByteAutomaton, tokenizer: Tokenizer, encoding: Encoding, limits: Limits, continues: bool = False
) -> TokenAutomaton:
    """The token automaton of a language; with `continues` its strings go on from a text before them.

    Raises `NoEncodingError` when the tokenizer can spell none of them, and the `LimitError` of `all_encodings`.
    """
    spelled = with_dropped_space(automaton) if tokenizer.drops_first_space and not continues else automaton
    if encoding is Encoding.CANONICAL:
        # A literal prefix needs no construction, however long it is: the tokenizer gives its one encoding.
        is_one_string = automaton.arcs == automaton.states - 1 and np.count_nonzero(automaton.final) == 1
        enumerated = enumerated_encodings(automaton, spelled, tokenizer, continues) if is_one_string else None
        if enumerated is not None and not enumerated.is_empty:
            return enumerated
        return canonical_encodings(automaton, tokenizer, limits, continues)
    return all_encodings(spelled, tokenizer.vocabulary, limits.token_arcs)


def text_encodings(text: str, tokenizer: Tokenizer, encoding: Encoding, limits: Limits) -> TokenAutomaton:
    """The token automaton of one string; canonically it is one path, which the tokenizer gives at once.

    Raises `NoEncodingError` where the string cannot be spelled.
    """
    data = text.encode()
    if encoding is Encoding.ALL:
        return token_automaton(_literal(data), tokenizer, encoding, limits)
    tokens = tokenizer.encode(text)
    if tokenizer.decode_bytes(tokens) != data:
        raise NoEncodingError(f"{text!r} has no canonical encoding in this vocabulary.")
    return EnumeratedAutomaton([(tokens, [False] * len(tokens))])


def _literal(data: bytes) -> ByteAutomaton:
    """The automaton of one string: a chain."""
    states = len(data) + 1
    transitions = np.full((states, 256), -1, np.int32)
    transitions[np.arange(len(data)), np.frombuffer(data, np.uint8)] = np.arange(1, states)
    final = np.zeros(states, np.bool_)
    final[-1] = True
    return ByteAutomaton(transitions, final, np.zeros(states, np.bool_))
