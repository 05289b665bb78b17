r"""Words masked for display: the first letter stays, dots take the place of the others.

    You are such an idiot.      You are such an i····.
    You are such an id*iot!     You are such an i·····!       one edit away: still the word to a reader
    Two idiots and an i diot    Two i····s and an i· ····     inside a longer word, or broken by a space

A study with edits finds just those spellings, so a mask of the exact word alone would hide little. A mask may hide too
much ("closer" is one letter away from "loser"), never too little. It is a courtesy to the reader: rows keep their text.

Words and texts may come from anybody, and one process masks them for all pages. So the time for a text has a bound
(`near_words.py`), and so has the length of both: with too many words every word is masked, and the end of too long a
text is dots.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from re import _casefix  # type: ignore[attr-defined]
from typing import Any

from relens.studies.near_words import ExactWords, NearWords, Span
from relens.studies.word_lists import key_of

DOT = "·"

#: Characters of all words together; with more every word of a text is masked.
MOST_CHARACTERS = 200_000
#: Characters of a text that are read; the rest is hidden.
LONGEST_TEXT = 20_000

#: The fields with text of an input or of a model: in rows, and in a study's own JSON.
TEXT_FIELDS = frozenset(
    {
        *("sentence", "prompt", "word", "words", "text", "first_text", "written", "error"),
        # Of trigger search; its texts are lists of words.
        *("target", "targets", "input", "inputs", "reply", "projected", "projected_reply", "reason", "unknown"),
        *("trigger_tokens", "input_tokens", "target_tokens"),
        # Of brute force; the keys of an object may be targets.
        *("examples", "output", "whole", "parts", "triggers", "missed"),
    }
)

#: Of these the fields with one text in pieces.
PIECES = frozenset({"trigger_tokens", "input_tokens", "target_tokens"})

#: Characters that are the same for `re` when case is ignored, besides those with the same small letter; and the two
#: apostrophes.
_SAME = {code: min(code, *others) for code, others in _casefix._EXTRA_CASES.items()} | {ord("’"): ord("'")}


def mask_word(word: str) -> str:
    """The first character of a word, and a dot for every other that is not a blank."""
    return word[:1] + re.sub(r"\S", DOT, word[1:])


def folded(text: str) -> str:
    """The text with one character for all that are the same when case is ignored, in the same length."""
    return text.replace("İ", "i").lower().translate(_SAME)  # İ has a small letter of two characters


class Masker:
    """Masks words, and spellings one edit away from them, anywhere in a text."""

    def __init__(self, words: Iterable[str]) -> None:
        keys = sorted({key_of(word) for word in words} - {""}, key=lambda key: (-len(key), key))
        exact = list(dict.fromkeys(map(folded, keys)))
        self._longest = len(exact[0]) if exact else 0
        self._finders: list[NearWords | ExactWords | _EveryWord] = []
        if sum(map(len, exact)) > MOST_CHARACTERS:
            self._finders = [_EveryWord()]
        elif exact:
            # With an edit first, so that "id iot" is masked as a whole and not only the shorter form in it.
            self._finders = [NearWords(exact), ExactWords(exact)]

    def __call__(self, text: str) -> str:
        """The text with its words masked, in the same length."""
        if not self._finders:
            return text
        read, hidden = text[:LONGEST_TEXT], ""
        if len(text) > LONGEST_TEXT:  # a word may lie across the cut
            cut = max(0, LONGEST_TEXT - self._longest - 1)
            hidden = re.sub(r"\S", DOT, text[cut:])
        for finder in self._finders:
            read = _masked(read, finder.spans(read, folded(read)))
        return read[: len(text) - len(hidden)] + hidden

    def pieces(self, pieces: Sequence[str]) -> list[str]:
        """The pieces of one text with its words masked, also a word across several pieces."""
        masked = self("".join(pieces))
        ends = list(itertools.accumulate(map(len, pieces)))
        return [masked[end - len(piece) : end] for end, piece in zip(ends, pieces, strict=True)]

    def rows(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Rows, or other JSON objects, with their text masked (`TEXT_FIELDS`) at any depth."""
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
    """All words: letters and digits in a row."""

    def spans(self, text: str, same: str) -> Iterator[Span]:
        return (found.span() for found in re.finditer(r"\w+", text))


def _masked(text: str, spans: Iterable[Span]) -> str:
    pieces = []
    end = 0
    for start, stop in spans:
        pieces += [text[end:start], mask_word(text[start:stop])]
        end = stop
    return "".join(pieces) + text[end:]
