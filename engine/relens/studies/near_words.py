r"""The places of words in a text, exact and with one edit, in a time that no choice of words and text can stretch.

    words "idiot", "jerk"        text "an id*iot, a jrk"
                                          ^^^^^^    ^^^      with one edit, between word boundaries

The first match in a text counts, and of those that begin at one place the first in this list; the search goes on
behind it:

    of the first word   with one character more:            i.diot  id.iot  idi.ot  idio.t
                        with one changed, or one missing:   .diot  diot  i.iot  iiot  ...  idio.  idio
    of the second word  ...

As a regular expression that is a thousand branches for twenty words, each tried at each place. Here all words are read
at once, as the bits of one long integer: bit i of a word is set when its last i characters have just been read. To read
a character is a shift and an "and" with the bits that this character may set; a second integer is the same after one
edit ("shift-and" of Baeza-Yates and Gonnet, with the errors of Wu and Manber, "Fast Text Searching Allowing Errors",
1992). The text is read from its end, so the end of reading is the start of a match. The lowest bit names its word,
since the words are laid out in their order; the form of the match is then read off that word alone.
So a character costs ten operations on integers as long as all words together, and no operation holds up another thread.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

#: Beginning and end of a match.
Span = tuple[int, int]

#: A word of fewer letters has too many neighbours: "fat" is one letter away from "cat". In such a word only a character
#: that is no letter may replace another, and none may be missing.
FEWEST_LETTERS = 4

#: The bits of so many characters are kept; those of others are made for each text, and so many kept meanwhile.
_KEPT, _KEPT_MEANWHILE = 256, 2_000

#: So many first characters decide whether a word may begin at a place.
_HEAD = 3


class NearWords:
    """The words with one edit, between word boundaries. words: in their order; as `folded` writes them."""

    def __init__(self, words: Sequence[str]) -> None:
        lasts = list(itertools.accumulate((len(word) + 1 for word in words), initial=-1))[1:]
        self._size = lasts[-1] + 1 if lasts else 0
        self._word_at = dict(zip(lasts, words, strict=True))
        places: defaultdict[str, list[int]] = defaultdict(list)
        for last, word in self._word_at.items():
            for place, character in enumerate(word):
                places[character].append(last - place)
        self._places = dict(places)
        # Of each word, bit 0 before any character, then a bit for each.
        self._begin = self._bits(last - len(word) for last, word in self._word_at.items())
        self._end = self._bits(lasts)
        self._inner = self._bits(
            place for last, word in self._word_at.items() for place in range(last + 1 - len(word), last)
        )
        self._any = self._inner | self._end
        self._long = self._bits(
            place
            for last, word in self._word_at.items()
            if len(word) >= FEWEST_LETTERS
            for place in range(last + 1 - len(word), last + 1)
        )
        often = sorted(self._places, key=lambda character: (-len(self._places[character]), character))[:_KEPT]
        self._kept = {character: self._bits(self._places[character]) for character in often}

    def spans(self, text: str, same: str) -> Iterator[Span]:
        """The matches in `text`, from left to right. same: the text as `folded` writes it."""
        is_part = [character.isalnum() or character == "_" for character in text]
        is_part.append(False)  # also for place -1, before the first character
        starts = self._starts(same, is_part)
        end = 0
        for start in sorted(starts):
            if start >= end:
                end = start + self._length(same, is_part, start, starts[start])
                yield start, end

    def _starts(self, same: str, is_part: Sequence[bool]) -> dict[int, str]:
        """The first word that can match, by the place where the match begins."""
        begin, end, inner, long = self._begin, self._end, self._inner, self._long
        missing_first = (begin << 1) & long
        bits = dict(self._kept)
        starts: dict[int, str] = {}
        exact = edited = 0
        for place in range(len(same) - 1, -1, -1):
            if not is_part[place + 1]:  # the end of a match, where reading it begins
                exact |= begin
                edited |= missing_first
            elif not exact and not edited:
                continue
            character = same[place]
            allowed = bits.get(character)
            if allowed is None:
                if len(bits) > _KEPT_MEANWHILE:
                    bits = dict(self._kept)
                allowed = bits[character] = self._bits(self._places.get(character, ()))
            moved = exact << 1
            changed = moved & (long if "a" <= character <= "z" else self._any)
            edited = (edited << 1) & allowed | changed | exact & inner
            exact = moved & allowed
            edited |= (exact << 1) & long
            if not is_part[place - 1] and (hits := edited & end):
                starts[place] = self._word_at[(hits & -hits).bit_length() - 1]
        return starts

    def _length(self, same: str, is_part: Sequence[bool], start: int, word: str) -> int:
        """The length of the first form of `word` that stands at `start`; one does."""
        length = len(word)
        end = start + length

        def stands(place: int, *, read: int, left_out: int) -> bool:
            """Whether the text is the word, but for `read` characters in place of `left_out` at this place."""
            stop = end + read - left_out
            return (
                stop < len(is_part)
                and not is_part[stop]
                and same.startswith(word[:place], start)
                and same.startswith(word[place + left_out :], start + place + read)
            )

        if any(stands(place, read=1, left_out=0) for place in range(1, length)):
            return length + 1
        is_short = length < FEWEST_LETTERS
        for place in range(length):
            changed = same[start + place : start + place + 1]
            if not (is_short and "a" <= changed <= "z") and stands(place, read=1, left_out=1):
                return length
            if not is_short and stands(place, read=0, left_out=1):
                return length - 1
        raise AssertionError(f"no form of a word of {length} characters stands at {start}")

    def _bits(self, places: Iterable[int]) -> int:
        """The integer whose bits at these places are set."""
        row = bytearray(self._size // 8 + 1)
        for place in places:
            row[place >> 3] |= 1 << (place & 7)
        return int.from_bytes(row, "little")


class ExactWords:
    """The exact words, also inside other words, the longest first. words: as `folded` writes them."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = frozenset(words)
        self._head = min([_HEAD, *map(len, words)])
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for word in words:
            lengths[word[: self._head]].add(len(word))
        self._lengths = {head: sorted(own, reverse=True) for head, own in lengths.items()}

    def spans(self, text: str, same: str) -> Iterator[Span]:
        """The matches in `text`, from left to right. same: the text as `folded` writes it."""
        end = 0
        for start in range(len(same)):
            if start < end:
                continue
            for length in self._lengths.get(same[start : start + self._head], ()):
                if same[start : start + length] in self._words:
                    end = start + length
                    yield start, end
                    break
