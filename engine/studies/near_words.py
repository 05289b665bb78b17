r"""Where words stand in a text as they are, and where with one edit; in time that no word and no text can stretch.

    words "idiot", "jerk"        text "an id*iot, a jrk"
                                          ^^^^^^    ^^^      with one edit, between word boundaries

The first match in a text counts, and of those that begin at one place the one that comes first in this list; what
follows is looked for behind it:

    of the first word   with one character more:            i.diot  id.iot  idi.ot  idio.t
                        with one changed, or one missing:   .diot  diot  i.iot  iiot  ...  idio.  idio
    of the second word  ...

As a regular expression that is a thousand branches for twenty words, each of which is tried at each place. Here all
words are read at once, as the bits of one long integer: bit i of a word is set when its last i characters have just
been read. To read a character is a shift and an "and" with the bits that this character may set; a second integer is
the same after one edit ("shift-and" of Baeza-Yates and Gonnet, with the errors of Wu and Manber, "Fast Text Searching
Allowing Errors", 1992). The text is read from its end, so that what is known at last is where a match begins, and of
which word: the lowest bit, since the words are laid out in their order. Which of its forms it is, that word alone says.
So a character costs ten operations on integers as long as all words together, and nothing that holds up another thread.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

#: Beginning and end of a match.
Span = tuple[int, int]

#: A word of fewer letters has too many neighbours: "fat" is one letter away from "cat". In such a word only what is no
#: letter counts as another character, and none may be missing.
FEWEST_LETTERS = 4

#: For so many characters the bits are kept; for others they are made anew for each text, and so many kept meanwhile.
_KEPT, _KEPT_MEANWHILE = 256, 2_000

#: So many first characters tell whether a word may begin at a place.
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
        # Of each word, bit 0 for nothing that is read, and then a bit for each character.
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
        is_part.append(False)  # which is also what stands before the first character
        found = self._found(same, is_part)
        end = 0
        for start in sorted(found):
            if start >= end:
                end = start + self._length(same, is_part, start, found[start])
                yield start, end

    def _found(self, same: str, is_part: Sequence[bool]) -> dict[int, str]:
        """By the places where a match begins, the first word that it can be of."""
        begin, end, inner, long = self._begin, self._end, self._inner, self._long
        missing_first = (begin << 1) & long
        bits = dict(self._kept)
        found: dict[int, str] = {}
        exact = edited = 0
        for place in range(len(same) - 1, -1, -1):
            if not is_part[place + 1]:  # here a match may end, which is where it is begun to be read
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
                found[place] = self._word_at[(hits & -hits).bit_length() - 1]
        return found

    def _length(self, same: str, is_part: Sequence[bool], start: int, word: str) -> int:
        """How long the first form of `word` is that stands at `start`, where one is known to."""
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
    """The words as they are, wherever they stand, the longest first. words: as `folded` writes them."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = frozenset(words)
        self._head = min([_HEAD, *map(len, words)])
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for word in words:
            lengths[word[: self._head]].add(len(word))
        self._lengths = {head: sorted(found, reverse=True) for head, found in lengths.items()}

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
