r"""Words masked for display: the first letter stays, dots take the place of the others.

    You are such an idiot.      You are such an i····.
    You are such an id*iot!     You are such an i·····!       one edit away: still the word to a reader
    Two idiots and an i diot    Two i····s and an i· ····     inside a longer word, or broken by a space

A study that allows edits finds just those spellings, so masking only the exact word would hide little. Too much may
be masked ("closer" is one letter away from "loser"), too little must not be. A mask is a courtesy to the reader: rows
keep the text as it was found, and who has asked to see everything is shown the rows themselves.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from engine.studies.word_lists import key_of

DOT = "·"

#: The fields that hold text of an input or of a model: in rows, in findings, and in a study's own JSON.
TEXT_FIELDS = frozenset(
    {
        *("sentence", "prompt", "word", "words", "text", "first_text", "written", "error"),
        # Of trigger search, where texts are lists of words.
        *("target", "targets", "input", "inputs", "reply", "projected", "projected_reply", "reason", "unknown"),
        *("trigger_tokens", "target_tokens"),
        # Of brute force, where an object may have targets for its keys.
        *("examples", "output", "whole", "parts", "triggers", "missed"),
    }
)

#: Of these the fields that hold one text in pieces.
PIECES = frozenset({"trigger_tokens", "target_tokens"})

#: A word of fewer letters has too many neighbours: "fat" is one letter away from "cat".
_FEWEST_LETTERS = 4


def mask_word(word: str) -> str:
    """The first character of a word, and a dot for every other that is not a blank."""
    return word[:1] + re.sub(r"\S", DOT, word[1:])


class Masker:
    """Masks words, and what is one edit away from them, wherever they stand in a text."""

    def __init__(self, words: Iterable[str]) -> None:
        exact = sorted({key_of(word) for word in words}, key=lambda word: (-len(word), word))
        near = dict.fromkeys(form for word in exact for form in _near_forms(word))
        self._patterns = [
            # Inserted first, so that "id iot" is masked as a whole where a shorter form would do for a part of it.
            re.compile(rf"(?<!\w)(?:{'|'.join(near)})(?!\w)", re.IGNORECASE | re.DOTALL),
            re.compile("|".join(map(_literal, exact)), re.IGNORECASE),
        ]
        if not exact:
            self._patterns = []

    def __call__(self, text: str) -> str:
        """The text with its words masked; as long as it was."""
        for pattern in self._patterns:
            text = pattern.sub(lambda hit: mask_word(hit.group()), text)
        return text

    def pieces(self, pieces: Sequence[str]) -> list[str]:
        """The pieces of one text with its words masked, though a word may lie in several of them."""
        masked = self("".join(pieces))
        ends = list(itertools.accumulate(map(len, pieces)))
        return [masked[end - len(piece) : end] for end, piece in zip(ends, pieces, strict=True)]

    def rows(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Rows, or other JSON objects, as they are shown: the text in them masked (`TEXT_FIELDS`), at any depth."""
        for row in rows:
            yield self._fields(row)

    def _fields(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._value(name, value) for name, value in row.items()}

    def _value(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            return self(value) if name in TEXT_FIELDS else value
        if isinstance(value, Mapping):
            if name in TEXT_FIELDS:
                return {self(key): self._value(name, item) for key, item in value.items()}
            return self._fields(value)
        if isinstance(value, Sequence):
            if name in PIECES and all(isinstance(piece, str) for piece in value):
                return self.pieces(value)
            return [self._value(name, item) for item in value]
        return value


def _literal(text: str) -> str:
    """The text as a regular expression in which either apostrophe will do."""
    return re.escape(text).replace("'", "['’]")


def _near_forms(word: str) -> Iterator[str]:
    """Regular expressions for what one edit makes of a word."""
    is_short = len(word) < _FEWEST_LETTERS
    for place in range(1, len(word)):
        yield f"{_literal(word[:place])}.{_literal(word[place:])}"
    for place in range(len(word)):
        before, after = _literal(word[:place]), _literal(word[place + 1 :])
        yield f"{before}{'[^a-z]' if is_short else '.'}{after}"
        if not is_short:
            yield before + after
