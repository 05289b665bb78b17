"""Millions of replies counted: the targets among them and within them, and the replies outside the list normal.

    c a l i f o r n i a     "california" is of the list normal: a hit; "for" and "a" are hits within a reply
    c a l i f o r n i e     outside

There are far fewer replies than inputs, so replies are counted first, and each is looked at once. A target within a
reply counts where it is the reply too, as in Table 6 of the paper, whose rates are never below those of Table 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from relens.triggers.brute_force.enumeration import Codes, Replies, reply_code
from relens.triggers.model.vocabulary import WordVocabulary

#: Replies whose targets within are remembered.
_REMEMBERED = 1 << 17


@dataclass
class Tally:
    """Counts of inputs, of replies outside the list normal, and of different replies.

    whole, parts: by list, the targets that are replies, and those within replies, with the number of the first input.
    examples: numbers of inputs whose reply is outside, drawn at random, and that reply as ids.
    """

    inputs: int = 0
    outside: int = 0
    different: int = 0
    whole: dict[str, dict[str, int]] = field(default_factory=dict)
    parts: dict[str, dict[str, int]] = field(default_factory=dict)
    examples: list[tuple[int, list[int]]] = field(default_factory=list)


class TargetCounter:
    """Counts the targets of some lists. longest: ids of a reply."""

    def __init__(self, vocabulary: WordVocabulary, lists: Mapping[str, Sequence[str]], longest: int) -> None:
        self._size, self._longest = len(vocabulary), longest
        #: By the bytes of its ids: each target with its lists.
        self._targets: dict[bytes, list[tuple[str, str]]] = {}
        for name, targets in lists.items():
            for target in targets:
                self._targets.setdefault(bytes(vocabulary.ids(target)), []).append((name, target))
        self._names = tuple(lists)
        self._lengths = sorted({len(target) for target in self._targets})
        normal = (reply_code(vocabulary.ids(word), self._size, longest) for word in lists["normal"])
        self._normal = np.array(sorted(normal), np.int64)
        self._within = lru_cache(_REMEMBERED)(self._find)

    def tally(self, replies: Iterable[Replies], examples: int, seed: Sequence[int]) -> Tally:
        """Of consecutive replies. examples: the most replies outside the list normal."""
        blocks = list(replies)
        if not blocks:
            return Tally()
        codes, first = np.concatenate([block.codes for block in blocks]), blocks[0].first
        different, places, counts = np.unique(codes, return_index=True, return_counts=True)
        outside = ~np.isin(different, self._normal)
        tally = Tally(
            inputs=len(codes),
            outside=int(counts[outside].sum()),
            different=len(different),
            whole={name: {} for name in self._names},
            parts={name: {} for name in self._names},
        )
        digits = self.digits(different)
        # In the order of the inputs, so that the first input for a target is kept.
        for number in np.argsort(places).tolist():
            reply = digits[number].tobytes().rstrip(b"\0")
            place = first + int(places[number])
            for name, target in self._targets.get(reply, ()):
                tally.whole[name].setdefault(target, place)
            for name, target in self._within(reply):
                tally.parts[name].setdefault(target, place)
        outsiders = np.flatnonzero(~np.isin(codes, self._normal))
        drawn = np.random.default_rng(list(seed)).permutation(len(outsiders))[:examples]
        for place in sorted(outsiders[drawn].tolist()):
            ids = self.digits(codes[place : place + 1])[0].tolist()
            tally.examples.append((first + place, ids))
        return tally

    def digits(self, codes: Codes) -> npt.NDArray[np.uint8]:
        """The ids of each reply, uint8 (replies, longest)."""
        powers = np.array([self._size ** (self._longest - 1 - place) for place in range(self._longest)], np.int64)
        return (codes[:, None] // powers % self._size).astype(np.uint8)

    def _find(self, reply: bytes) -> tuple[tuple[str, str], ...]:
        """The targets within a reply, with their lists."""
        hits: dict[tuple[str, str], None] = {}
        for length in self._lengths:
            for first in range(len(reply) - length + 1):
                for known in self._targets.get(reply[first : first + length], ()):
                    hits[known] = None
        return tuple(hits)
