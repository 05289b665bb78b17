"""What a reader should know about how a query was encoded, in plain sentences."""

from __future__ import annotations

import numpy as np

from engine.language.automaton import ByteAutomaton
from engine.language.counting import example_strings
from engine.language.language import Language
from engine.tokens.automaton import TokenAutomaton
from engine.tokens.tokenizer import Tokenizer

#: Examples of prefix and pattern that are tried when looking for a string that the tokenizer would cut elsewhere.
EXAMPLES = 3


def notes(language: Language, automaton: TokenAutomaton, tokenizer: Tokenizer, is_split: bool) -> tuple[str, ...]:
    """The notes on one compiled query; `is_split` says that prefix and pattern are encoded apart."""
    found = [_confirmation(automaton, tokenizer), _size(automaton), _missing_bytes(language.whole, tokenizer)]
    if is_split:
        found.append(_boundary(language, tokenizer))
    if tokenizer.drops_first_space:
        found.append(
            "This tokenizer puts a space before a text: the first token of a match spells one that the text lacks."
        )
    return tuple(sentence for sentence in found if sentence)


def _confirmation(automaton: TokenAutomaton, tokenizer: Tokenizer) -> str:
    if not automaton.needs_confirmation:
        return ""
    return (
        f"The canonical encodings of this language under this tokenizer ({tokenizer.family}) are not known ahead; "
        "every match is encoded again to check it."
    )


def _size(automaton: TokenAutomaton) -> str:
    if automaton.needs_confirmation or not automaton.may_have_dead_ends:
        return ""
    return "This language is too large to work out ahead; the search may try beginnings that no match continues."


def _missing_bytes(whole: ByteAutomaton, tokenizer: Tokenizer) -> str:
    used = (whole.transitions >= 0).any(axis=0)
    missing = np.flatnonzero(used & ~tokenizer.vocabulary.single_bytes).tolist()
    if not missing:
        return ""
    names = ", ".join(f"0x{byte:02X}" for byte in missing[:8]) + (" and others" if len(missing) > 8 else "")
    plural = "these bytes" if len(missing) > 1 else "this byte"
    return f"Strings with {names} may have no encoding: the vocabulary has no token for {plural} alone."


def _boundary(language: Language, tokenizer: Tokenizer) -> str:
    """Whether the tokenizer would cut some string elsewhere than between prefix and pattern, by example."""
    for prefix in example_strings(language.prefix, EXAMPLES):
        for pattern in example_strings(language.pattern, EXAMPLES):
            apart = tokenizer.encode(prefix) + tokenizer.encode(pattern, continues=True)
            if tokenizer.encode(prefix + pattern) != apart:
                end = prefix[-12:] if len(prefix) <= 12 else "…" + prefix[-12:]
                return (
                    f"The tokenizer would not cut {end + pattern!r} after {end!r}: "
                    "a free boundary, where the whole string is encoded as one, gives another answer."
                )
    return ""
