"""Pairs of sentences as rectangles of ids, and the order in which training takes them.

    "how are you"   ->  <pad> ... <pad> how are you <eou>       always 15 ids, the last is <eou>
    "i am fine ."   ->  <s> i am fine . </s>                    at most 20, filled up with <pad> behind

A longer input loses its beginning, a longer reply its end (and with it `</s>`). The encoder reads the padding before an
input, and attends to it, as in the paper's models. So an input is always filled up to the same length: the reply to it
does not depend on the rest of its batch.

A batch of replies of 3 and 20 words wastes most of its computation on padding. So pairs are shuffled, taken in
stretches of fifty batches, sorted by length within each, cut into batches, and these shuffled again.

Most of the work of training is the output layer. It is computed for the words of a batch, without its padding:

    i am fine </s>          states of 4 + 2 words in one table, 6 rows and 58 empty ones -> logits -> cost of 6 words
    yes </s> <pad> <pad>

In bfloat16, oneDNN compiles code for each new size of a matrix, and keeps it: an hour of training would hold gigabytes.
So the table is filled up to a multiple of 64 rows, which costs almost nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from relens.errors import QueryError
from relens.triggers.model.vocabulary import BEGIN, END, END_OF_UTTERANCE, PAD, WordVocabulary

#: Ids of an input, <eou> included, and of a reply, <s> and </s> included (He and Glass 2019, section 5.1).
SOURCE_LENGTH, TARGET_LENGTH = 15, 20

#: Batches that are sorted by length together.
_STRETCH = 50

#: Rows of a table of states are a multiple of this.
_ROWS = 64

#: The label of an empty row; `cross_entropy` ignores it.
_NO_WORD = -100


def source_row(vocabulary: WordVocabulary, words: Sequence[str], length: int = SOURCE_LENGTH) -> list[int]:
    """The ids of an input: its last words and `END_OF_UTTERANCE`, filled up from the left to `length`."""
    row = [*vocabulary.ids(words[max(0, len(words) - length + 1) :]), END_OF_UTTERANCE]
    return [PAD] * (length - len(row)) + row


def target_row(vocabulary: WordVocabulary, words: Sequence[str], length: int = TARGET_LENGTH) -> list[int]:
    """The ids of a reply: `BEGIN`, its words and `END`, cut off after `length`."""
    return [BEGIN, *vocabulary.ids(words), END][:length]


def source_tensor(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    """int64 (batch, n) of rows of the same length. Raises `QueryError` for others."""
    if len({len(row) for row in rows}) != 1:
        raise QueryError("The inputs of a batch have the same length, and there is at least one.")
    return torch.tensor([list(row) for row in rows], dtype=torch.int64)


def target_tensor(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    """int64 (batch, m + 1) of rows that begin with `BEGIN`, filled up with `PAD` to the longest, of m + 1 ids."""
    if not rows or min(map(len, rows)) < 2:
        raise QueryError("A reply has at least one id after <s>, and there is at least one reply.")
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows], dtype=torch.int64)


def target_mask(target_ids: torch.Tensor) -> torch.Tensor:
    """bool (batch, m) of target_ids (batch, m + 1): which of the ids after `BEGIN` are words, not padding."""
    return target_ids[:, 1:] != PAD


@dataclass(frozen=True)
class Batch:
    """Pairs side by side. source_ids: int64 (batch, n); target_ids: int64 (batch, m + 1), see `target_tensor`."""

    source_ids: torch.Tensor
    target_ids: torch.Tensor

    @property
    def words(self) -> int:
        """How many ids are predicted."""
        return int(target_mask(self.target_ids).sum())


@dataclass(frozen=True)
class EncodedPairs:
    """Pairs of a corpus as rows of ids, in the order of the corpus."""

    sources: tuple[list[int], ...]
    targets: tuple[list[int], ...]

    def __len__(self) -> int:
        return len(self.targets)

    def batches(self, size: int, seed: int | None = None) -> Iterator[Batch]:
        """Every pair once, `size` a batch; shuffled by `seed` (see the module), or without one sorted by length."""
        for places in self._places(size, seed):
            yield Batch(
                source_tensor([self.sources[place] for place in places]),
                target_tensor([self.targets[place] for place in places]),
            )

    def batch_count(self, size: int) -> int:
        """How many batches `batches` yields."""
        return -(-len(self) // size)

    def _places(self, size: int, seed: int | None) -> list[list[int]]:
        if size < 1:
            raise QueryError(f"A batch has at least 1 pair, not {size}.")
        places = list(range(len(self)))
        if seed is None:
            places.sort(key=lambda place: len(self.targets[place]))
            return [places[first : first + size] for first in range(0, len(places), size)]
        rng = random.Random(seed)
        rng.shuffle(places)
        cut: list[list[int]] = []
        for first in range(0, len(places), size * _STRETCH):
            stretch = sorted(places[first : first + size * _STRETCH], key=lambda place: len(self.targets[place]))
            cut += [stretch[start : start + size] for start in range(0, len(stretch), size)]
        rng.shuffle(cut)
        return cut


def summed_cost(output: nn.Linear, states: torch.Tensor, sentence_ids: torch.Tensor) -> torch.Tensor:
    """The negative log-probability of all ids after the first, summed, in nats; `PAD` is no word.

    states: (batch, m, hidden), each before the next id; sentence_ids: int64 (batch, m + 1).
    """
    places = target_mask(sentence_ids).flatten().nonzero()[:, 0]
    words = sentence_ids[:, 1:].flatten()[places]
    empty = (0, -len(places) % _ROWS)
    logits = output(states.flatten(0, 1)[functional.pad(places, empty)])
    return functional.cross_entropy(
        logits.float(), functional.pad(words, empty, value=_NO_WORD), ignore_index=_NO_WORD, reduction="sum"
    )
