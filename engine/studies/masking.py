r"""Words masked for display: the first letter stays, dots take the place of the others.

    You are such an idiot.      You are such an i····.
    You are such an id*iot!     You are such an i·····!       one edit away: still the word to a reader
    Two idiots and an i diot    Two i····s and an i· ····     inside a longer word, or broken by a space

A study that allows edits finds just those spellings, so masking only the exact word would hide little. Too much may
be masked ("closer" is one letter away from "loser"), too little must not be. A mask is a courtesy to the reader: rows
keep the text as it was found, and who has asked to see everything is shown the rows themselves.

Words and texts may be anybody's, and a page masks them in the process that serves all pages. So the time for a text is
bounded whatever they are (`near_words.py`), and both are only so long: with too many words every word is masked, and
the end of a text that is too long is dots.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from re import _casefix  # type: ignore[attr-defined]
from typing import Any

from engine.studies.near_words import ExactWords, NearWords, Span
from engine.studies.word_lists import key_of

DOT = "·"

#: How many characters all words may have together; with more of them every word of a text is masked.
MOST_CHARACTERS = 200_000
#: How much of a text is read; what comes after it is hidden.
LONGEST_TEXT = 20_000

#: The fields that hold text of an input or of a model: in rows, in findings, and in a study's own JSON.
TEXT_FIELDS = frozenset(
    {
        *("sentence", "prompt", "word", "words", "text", "first_text", "written", "error"),
        # Of trigger search, where texts are lists of words.
        *("target", "targets", "input", "inputs", "reply", "projected", "projected_reply", "reason", "unknown"),
        *("trigger_tokens", "input_tokens", "target_tokens"),
        # Of brute force, where an object may have targets for its keys.
        *("examples", "output", "whole", "parts", "triggers", "missed"),
    }
)

#: Of these the fields that hold one text in pieces.
PIECES = frozenset({"trigger_tokens", "input_tokens", "target_tokens"})

#: Which characters `re` takes for the same where case is ignored, besides those with the same small letter; and either
#: apostrophe will do.
_SAME = {code: min(code, *others) for code, others in _casefix._EXTRA_CASES.items()} | {ord("’"): ord("'")}


def mask_word(word: str) -> str:
    """The first character of a word, and a dot for every other that is not a blank."""
    return word[:1] + re.sub(r"\S", DOT, word[1:])


def folded(text: str) -> str:
    """The text with one character for all that are the same when case is ignored; as long as it was."""
    return text.replace("İ", "i").lower().translate(_SAME)  # İ has a small letter of two characters


class Masker:
    """Masks words, and what is one edit away from them, wherever they stand in a text."""

    def __init__(self, words: Iterable[str]) -> None:
        keys = sorted({key_of(word) for word in words} - {""}, key=lambda key: (-len(key), key))
        exact = list(dict.fromkeys(map(folded, keys)))
        self._longest = len(exact[0]) if exact else 0
        self._finders: list[NearWords | ExactWords | _EveryWord] = []
        if sum(map(len, exact)) > MOST_CHARACTERS:
            self._finders = [_EveryWord()]
        elif exact:
            # With an edit first, so that "id iot" is masked as a whole where a shorter form would do for a part of it.
            self._finders = [NearWords(exact), ExactWords(exact)]

    def __call__(self, text: str) -> str:
        """The text with its words masked; as long as it was."""
        if not self._finders:
            return text
        read, hidden = text[:LONGEST_TEXT], ""
        if len(text) > LONGEST_TEXT:  # a word may begin before that and end behind it
            cut = max(0, LONGEST_TEXT - self._longest - 1)
            hidden = re.sub(r"\S", DOT, text[cut:])
        for finder in self._finders:
            read = _masked(read, finder.spans(read, folded(read)))
        return read[: len(text) - len(hidden)] + hidden

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


class _EveryWord:
    """Letters and digits in a row."""

    def spans(self, text: str, same: str) -> Iterator[Span]:
        return (found.span() for found in re.finditer(r"\w+", text))


def _masked(text: str, spans: Iterable[Span]) -> str:
    pieces = []
    end = 0
    for start, stop in spans:
        pieces += [text[end:start], mask_word(text[start:stop])]
        end = stop
    return "".join(pieces) + text[end:]
