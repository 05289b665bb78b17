"""Notes for a reader on how a query was encoded, in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relens.language.automaton import ByteAutomaton
from relens.language.language import Language
from relens.query import Query
from relens.tokens.automaton import TokenAutomaton
from relens.tokens.tokenizer import Tokenizer


def notes(query: Query, language: Language, parts: Sequence[TokenAutomaton], tokenizer: Tokenizer) -> tuple[str, ...]:
    """The notes on one compiled query. parts: the token automata it is made of, before anything is excluded."""
    sentences = [
        _confirmation(parts, tokenizer),
        _size(parts),
        _missing_bytes(language.whole, tokenizer),
        _exclusion(query, language),
        _nothing_to_edit(query),
    ]
    if tokenizer.drops_first_space:
        sentences.append(
            "This tokenizer puts a space before a text: the first token of a match spells one that the text lacks."
        )
    return tuple(sentence for sentence in sentences if sentence)


def _confirmation(parts: Sequence[TokenAutomaton], tokenizer: Tokenizer) -> str:
    if not any(part.needs_confirmation for part in parts):
        return ""
    return (
        f"The canonical encodings of this language under this tokenizer ({tokenizer.family}) are not known ahead; "
        "every match is encoded again to check it."
    )


def _size(parts: Sequence[TokenAutomaton]) -> str:
    if not any(part.may_have_dead_ends and not part.needs_confirmation for part in parts):
        return ""
    return "This language is too large to compute ahead; the search may try beginnings that no match continues."


def _exclusion(query: Query, language: Language) -> str:
    if not query.exclude:
        return ""
    if language.excluded is None:
        return "Excluded strings were taken out of the automaton."
    return (
        "Taking the excluded strings out ahead would make the automaton too large, so each match is checked; the "
        "unexplored mass may include excluded strings."
    )


def _nothing_to_edit(query: Query) -> str:
    if query.edits and query.edits.where == "prefix" and not query.prefix:
        return "The edits are for the prefix alone, and there is no prefix: nothing is edited."
    return ""


def _missing_bytes(whole: ByteAutomaton, tokenizer: Tokenizer) -> str:
    used = (whole.transitions >= 0).any(axis=0)
    missing = np.flatnonzero(used & ~tokenizer.vocabulary.single_bytes).tolist()
    if not missing:
        return ""
    names = ", ".join(f"0x{byte:02X}" for byte in missing[:8]) + (" and others" if len(missing) > 8 else "")
    plural = "these bytes" if len(missing) > 1 else "this byte"
    return f"Strings with {names} may have no encoding: the vocabulary has no token for {plural} alone."
