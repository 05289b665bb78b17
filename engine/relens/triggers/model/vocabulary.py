"""Text to words, and words to numbers.

    I can't; he's OK...    ->  i ca n't ; he 's ok ...       lower case, cut as in the Penn Treebank
    Costs 1,000.50 (maybe) ->  costs 1,000.50 ( maybe )
    see http://a.org/b, x  ->  see http://a.org/b , x

A contraction is cut before its "n't" or its "'s", and punctuation stands alone. Numbers, addresses, words with hyphens
and abbreviations with dots between single letters stay whole. Text that is cut already stays as it is, so a sentence
that is read again, or is edited on a page, has the same words.

    0 </s>   1 <unk>   2 <s>   3 <pad>   4 <eou>   5 you   6 i   7 ...

    i command you   -> 6 1 5          five special words, then the others by frequency; any other word is <unk>,
    </s> i          -> 1 6            and so is a typed special word: no text can end a sentence from within

`<s>` begins and `</s>` ends a reply; `<eou>` ends an input, which is filled up from the left with `<pad>`. None of
these four may stand within an input; `<unk>` may, and the triggers of the paper have it. Source: He and Glass 2019,
sections 4.2 and 5.1.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from relens.errors import QueryError
from relens.record import Record

END, UNKNOWN, BEGIN, PAD, END_OF_UTTERANCE = range(5)
SPECIAL_WORDS = ("</s>", "<unk>", "<s>", "<pad>", "<eou>")

#: Ids that may not stand among the words of an input.
FORBIDDEN = (END, BEGIN, PAD, END_OF_UTTERANCE)

#: Words of a vocabulary, and characters of one of its words.
MOST_WORDS, LONGEST_WORD = 200_000, 100

_PLAIN = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "„": '"', "…": "...", "–": "-", "—": "-"})

_CLITIC = r"'(?:s|m|re|ve|ll|d)(?!\w)"
_NOT = r"n't(?!\w)"

_WORD = re.compile(
    rf"""
      <[a-z/]+>                                   # a word of the corpus itself, such as <unk>
    | (?:https?://|www\.)[^\s<>"]*[^\s<>".,;:!?')]  # an address, without what closes the sentence
    | \.\.+ | --+ | !!+ | \?\?+                   # runs of a sign
    | (?:[a-z]\.){{2,12}}(?!\w)                   # u.s., e.g.; bounded, or a line of these takes time squared
    | {_NOT} | {_CLITIC}
    | \w+?(?={_NOT})                              # do, of don't
    | \d+(?:[.,:/]\d+)+                           # 1,000.50  4:30
    | \w+(?:(?:[-_@&+]|(?!{_CLITIC})')(?!\w*{_NOT})\w+)*       # well-known  o'clock
    | \S
    """,
    re.VERBOSE,
)


def words_of_text(text: str) -> tuple[str, ...]:
    """The words of a text, lower case."""
    return tuple(_WORD.findall(unicodedata.normalize("NFC", text).translate(_PLAIN).lower()))


def words_of_cut_text(text: str) -> tuple[str, ...]:
    """The words of a text that is cut already, by blanks; lower case too."""
    return tuple(text.lower().split())


@dataclass(frozen=True)
class WordVocabulary(Record):
    """Words by their id, the five special ones first. Raises `QueryError` for any other list, and for a word twice."""

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.words[: len(SPECIAL_WORDS)] != SPECIAL_WORDS:
            raise QueryError(f"A vocabulary begins with {' '.join(SPECIAL_WORDS)}.")
        if len(self.words) == len(SPECIAL_WORDS):
            raise QueryError("A vocabulary needs at least one word.")
        if len(self.words) > MOST_WORDS:
            raise QueryError(f"A vocabulary has at most {MOST_WORDS:,} words, not {len(self.words):,}.")
        if len(self._id_of) < len(self.words):
            raise QueryError("A vocabulary has each of its words once.")
        if any(len(word.split()) != 1 or len(word) > LONGEST_WORD for word in self.words):
            raise QueryError(f"A word of a vocabulary has no blanks, and between 1 and {LONGEST_WORD} characters.")

    @classmethod
    def of_sentences(cls, sentences: Iterable[Sequence[str]], size: int) -> WordVocabulary:
        """The most frequent words, at most `size` with the special ones; of equals, in ABC order.

        Raises `QueryError` where there are none, or no room for one.
        """
        if size <= len(SPECIAL_WORDS):
            raise QueryError(f"A vocabulary needs room for more than {len(SPECIAL_WORDS)} words, not {size}.")
        counts = Counter(word for sentence in sentences for word in sentence if len(word) <= LONGEST_WORD)
        for word in SPECIAL_WORDS:
            counts.pop(word, None)
        if not counts:
            raise QueryError(
                f"The text has no word to learn: each is written like one of {' '.join(SPECIAL_WORDS)}, or longer than"
                f" {LONGEST_WORD} characters."
            )
        frequent = sorted(counts, key=lambda word: (-counts[word], word))[: size - len(SPECIAL_WORDS)]
        return cls((*SPECIAL_WORDS, *frequent))

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def fingerprint(self) -> str:
        """A short name for exactly these words in this order: 16 hexadecimal digits."""
        return hashlib.sha256("\n".join(self.words).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def ids(self, words: Iterable[str]) -> list[int]:
        """The id of each word; `UNKNOWN` for any other word, and for one written like a special one."""
        numbers = (self._id_of.get(word, UNKNOWN) for word in words)
        return [UNKNOWN if number < len(SPECIAL_WORDS) else number for number in numbers]

    def words_of(self, ids: Iterable[int]) -> tuple[str, ...]:
        """The word of each id. Raises `QueryError` for an id outside the vocabulary."""
        numbers = list(ids)
        for number in numbers:
            if not 0 <= number < len(self.words):
                raise QueryError(f"An id of this vocabulary is at least 0 and below {len(self.words)}, not {number}.")
        return tuple(self.words[number] for number in numbers)

    def unknown(self, words: Iterable[str]) -> tuple[str, ...]:
        """The words without an id of their own, each once, in order."""
        return tuple(dict.fromkeys(word for word in words if self.ids((word,)) == [UNKNOWN]))
