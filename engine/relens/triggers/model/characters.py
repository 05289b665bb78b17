"""A task so small that every input can be tried: from the letters of a word to those of the next one.

    the chairman of the ...          pairs     t h e            ->  c h a i r m a n
                                               a i r m a n      ->  o f

A symbol is one of the 32 most frequent characters of the text, or <unk>, so there are 33^6 inputs of six. An input has
the last six symbols of its word, an output the first ten. A text has only so many words, so in half of them one symbol,
drawn at random, is another:

    i b -> c d a i r m a n -> o f          is -> chairman -> of, with noise

A word has the same noise as an output and as the next input. The paper takes the Penn Treebank, which is not ours to
pass on: its rare words are "<unk>", its numbers are "n", and it has no punctuation. Other text is brought to that form;
a file whose words stand apart, such as the paper's own, stays as it is.

Symbols use the vocabulary that words use. Source: He and Glass 2019, appendix B.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from relens.errors import QueryError
from relens.triggers.model.vocabulary import END, SPECIAL_WORDS, UNKNOWN, WordVocabulary

Words = tuple[str, ...]

#: Symbols of the longest input and of the longest output.
INPUT_SYMBOLS, OUTPUT_SYMBOLS = 6, 10

#: The words for rare words and for numbers.
RARE, NUMBER = "<unk>", "n"

_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_LETTER = re.compile(r"[^\W\d_]")


def treebank_words(words: Iterable[str]) -> Words:
    """Words in the form of the paper's Penn Treebank: numbers are "n", and words without a letter are left out."""
    plain = (NUMBER if _NUMBER.fullmatch(word) else word for word in words)
    return tuple(word for word in plain if _LETTER.search(word) or word == RARE)


@dataclass(frozen=True)
class CharacterText:
    """Sentences of frequent words, for training and test. words: all of the training, with `RARE` where it occurs."""

    name: str
    words: Words
    train: tuple[Words, ...]
    test: tuple[Words, ...]

    @classmethod
    def of_sentences(cls, name: str, train: Sequence[Words], test: Sequence[Words], size: int) -> CharacterText:
        """With the `size` most frequent words of the training; the others become `RARE`.

        Raises `QueryError` where one of the two has no two words in a row.
        """
        counts = Counter(word for sentence in train for word in sentence)
        frequent = set(sorted(counts, key=lambda word: (-counts[word], word))[:size])
        parts = tuple(
            tuple(tuple(word if word in frequent else RARE for word in sentence) for sentence in part)
            for part in (train, test)
        )
        for part, what in zip(parts, ("train", "test"), strict=True):
            if not any(len(sentence) > 1 for sentence in part):
                raise QueryError(f"The text has no two words in a row to {what} with.")
        words = {word for sentence in parts[0] for word in sentence}
        return cls(name, tuple(sorted(words)), *parts)

    @cached_property
    def fingerprint(self) -> str:
        """A short name for exactly these sentences: 16 hexadecimal digits."""
        digest = hashlib.sha256()
        for part in (self.train, self.test):
            for sentence in part:
                digest.update(" ".join(sentence).encode("utf-8", "replace") + b"\n")
            digest.update(b"\n")
        return digest.hexdigest()[:16]

    def vocabulary(self, symbols: int) -> WordVocabulary:
        """The `symbols` most frequent characters of the training, after the five special words."""
        counts = Counter(word for sentence in self.train for word in sentence)
        characters: Counter[str] = Counter()
        for word, count in counts.items():
            for character in word:
                characters[character] += count
        frequent = sorted(characters, key=lambda character: (-characters[character], character))[:symbols]
        return WordVocabulary((*SPECIAL_WORDS, *frequent))


def input_symbols(vocabulary: WordVocabulary) -> tuple[int, ...]:
    """The ids that may stand in an input: <unk>, and each character."""
    return (UNKNOWN, *range(len(SPECIAL_WORDS), len(vocabulary)))


def noisy_pairs(
    vocabulary: WordVocabulary, sentences: Iterable[Words], seed: int, share: float = 0.5
) -> Iterator[tuple[list[int], list[int]]]:
    """The ids of each word and of the next one, uncut, with noise in about `share` of the words."""
    rng = random.Random(seed)
    characters = range(len(SPECIAL_WORDS), len(vocabulary))
    spelled: dict[str, list[int]] = {}
    for sentence in sentences:
        rows = []
        for word in sentence:
            row = spelled.setdefault(word, vocabulary.ids(word))
            rows.append(_flipped(row, characters, rng) if len(characters) > 1 and rng.random() < share else row)
        yield from pairwise(rows)


def spelled_out(vocabulary: WordVocabulary, ids: Iterable[int]) -> str:
    """Symbols with blanks between them, up to `END`: "b u s i n e s s e", and "m p j <unk> k a"."""
    row = list(ids)
    return " ".join(vocabulary.words_of(row[: row.index(END)] if END in row else row))


def _flipped(row: list[int], characters: range, rng: random.Random) -> list[int]:
    place = rng.randrange(len(row))
    other = rng.choice(characters)
    while other == row[place]:
        other = rng.choice(characters)
    return [*row[:place], other, *row[place + 1 :]]
