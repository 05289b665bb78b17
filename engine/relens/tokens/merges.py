"""Which tokens may follow each other inside a pre-token: byte-pair encoding, decided two neighbours at a time.

BPE starts from single bytes and applies, again and again, the merge of least rank, leftmost first. With the merges

    0: c a -> ca    1: a t -> at    2: ca t -> cat

`ca` `t` never stands in an encoding, since rank 2 merges the two; nor does `c` `at`, since rank 0 takes the a first.

**Lemma.** A sequence of tokens is what BPE makes of its bytes iff every two neighbours are what BPE makes of theirs.
(As long as no merge crosses the border between two tokens, the run inside a segment is the segment's own run: the least
merge of the whole is the least of its segment. So the first merge to cross a border in the whole also crosses it in the
run of the two neighbours alone, and the other way round.) It holds for every list of merges.

**The test of a pair** (left, right) runs no BPE. While `left` grows, its last symbol passes through its right spine:
for cat = (ca, t), the symbol t and then cat. Each symbol of the spine lives from the rank that creates it to the rank
of the merge that takes it. Likewise the left spine of `right`. The border is crossed iff some pair of symbols, one from
each spine, that live at the same time have a merge, and its rank comes before either is taken:

    created(r) <= taken(l)   created(l) < taken(r)   merge(r, l) < taken(r)   merge(r, l) <= taken(l)

(the left one goes first at equal ranks). That reads ranks as time, which is right for a token whose every merge has a
greater rank than the merges of its parts. In trained lists all are so; lists converted from other formats may have a
few that are not, and pairs with one of those are decided by running BPE.

A token that BPE does not make of its own bytes (`is_canonical` False) is never part of an encoding.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from relens.tokens.ranges import expand

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

#: No symbol.
NONE = -1
#: Tokens whose refused successors are remembered; up to tens of kilobytes each.
REMEMBERED_TOKENS = 2048


class Merge(NamedTuple):
    """One step of BPE: `left` and `right`, whose border is at byte `position` of the pre-token, become `product`."""

    rank: int
    left: int
    right: int
    product: int
    position: int


#: Whether a token may follow another one: as a bool has it, or open until BPE itself decides.
_NO, _YES, _OPEN = 0, 1, 2


class PairTest:
    """The pair test of one list of merges; about a tenth of a second for 50,000 of them.

    token_bytes: what each id spells. merges: (left, right, product) ids in the order of their ranks. is_canonical:
    (size,), whether BPE makes the token of its own bytes. by_character: BPE starts from characters, not bytes, as
    SentencePiece does.
    """

    def __init__(
        self,
        token_bytes: Sequence[bytes | None],
        merges: Sequence[tuple[int, int, int]],
        by_character: bool = False,
    ) -> None:
        last_of_pair = {(left, right): rank for rank, (left, right, _) in enumerate(merges)}
        if len(last_of_pair) < len(merges):  # the library heeds the last merge of a pair
            merges = [merge for rank, merge in enumerate(merges) if last_of_pair[merge[:2]] == rank]
        self._size = len(token_bytes)
        self._never = len(merges)  # a rank after all others
        self._token_bytes = token_bytes
        self._symbols = _characters if by_character else _bytes
        self._single = {item: token for token, item in enumerate(token_bytes) if item and len(self._symbols(item)) == 1}
        self._merge = {(left, right): (rank, product) for rank, (left, right, product) in enumerate(merges)}
        table = np.array(merges, np.int64).reshape(-1, 3)
        self._merge_left, self._merge_right, self._product = table.T
        keys = self._merge_left * self._size + self._merge_right
        self._order = np.argsort(keys)
        self._keys = keys[self._order]
        self._lengths = np.array([len(item) if item else 0 for item in token_bytes], np.int64)
        self._grow_spines()
        self._index_right_tokens()
        self._pairs: dict[tuple[int, int], bool] = {}
        self._refused: dict[int, Integers] = {}
        self._disorderly = np.flatnonzero(~self._is_orderly)

    # -- trees and spines -----------------------------------------------------------------------------------------

    def _grow_spines(self) -> None:
        """Find each token's tree, shortest tokens first, and its two spines from those of its parts.

        Spines are (size, depth) tables filled with NONE; column 0 is the token itself. `taken` is the rank that ends
        the life of the symbol in the same cell.
        """
        size, width = self._size, 8
        self.is_canonical = np.zeros(size, np.bool_)
        self._created = np.full(size, NONE, np.int64)
        self._is_orderly = np.ones(size, np.bool_)
        self._right_spine = np.full((size, width), NONE, np.int32)
        self._left_spine = np.full((size, width), NONE, np.int32)
        self._right_taken = np.full((size, width), self._never, np.int32)
        self._left_taken = np.full((size, width), self._never, np.int32)
        singles = np.array(sorted(self._single.values()), np.int64)
        self.is_canonical[singles] = True
        self._right_spine[singles, 0] = self._left_spine[singles, 0] = singles

        product_length = self._lengths[self._product]
        by_length = np.argsort(product_length, kind="stable")
        bounds = np.flatnonzero(np.diff(product_length[by_length], prepend=-1, append=-1))
        for begin, end in itertools.pairwise(bounds.tolist()):
            self._add_products(np.sort(by_length[begin:end]))

    def _add_products(self, ranks: Integers) -> None:
        """Settle the products of these merges, which are all of one length."""
        left, right, product = self._merge_left[ranks], self._merge_right[ranks], self._product[ranks]
        possible = self.is_canonical[left] & self.is_canonical[right]
        ranks, left, right, product = ranks[possible], left[possible], right[possible], product[possible]
        orderly = self._is_orderly[left] & self._is_orderly[right]
        made = np.zeros(len(ranks), np.bool_)
        made[orderly] = ~self._is_crossed(left[orderly], right[orderly], ignore_whole=True)
        for index in np.flatnonzero(~orderly):
            made[index] = self._run_bpe(int(product[index])) == [(int(left[index]), int(right[index]))]
        ranks, left, right, product = ranks[made], left[made], right[made], product[made]
        self.is_canonical[product] = True
        self._created[product] = ranks
        self._is_orderly[product] = orderly[made] & (ranks > self._created[left]) & (ranks > self._created[right])
        for spine, taken, part in (
            (self._right_spine, self._right_taken, right),
            (self._left_spine, self._left_taken, left),
        ):
            spine[product, 0] = product
            spine[product, 1:] = spine[part, :-1]
            taken[product, 1] = ranks
            taken[product, 2:] = taken[part, 1:-1]
        if (self._right_spine[product, -1] != NONE).any() or (self._left_spine[product, -1] != NONE).any():
            self._widen()

    def _widen(self) -> None:
        extra = np.full((self._size, 8), NONE, np.int32)
        never = np.full((self._size, 8), self._never, np.int32)
        self._right_spine = np.concatenate([self._right_spine, extra], axis=1)
        self._left_spine = np.concatenate([self._left_spine, extra], axis=1)
        self._right_taken = np.concatenate([self._right_taken, never], axis=1)
        self._left_taken = np.concatenate([self._left_taken, never], axis=1)

    # -- the test -------------------------------------------------------------------------------------------------

    def _lookup(self, left: Integers, right: Integers) -> Integers:
        """(n,) rank of the merge of each pair, `never` where there is none."""
        if not len(self._keys):
            return np.full(len(left), self._never)
        keys = left.astype(np.int64) * self._size + right
        position = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[position] == keys, self._order[position], self._never)

    def _is_crossed(self, left: Integers, right: Integers, ignore_whole: bool = False) -> Booleans:
        """(n,) whether a merge crosses the border of each pair; the merge of the two whole tokens may be ignored."""
        crossed = np.zeros(len(left), np.bool_)
        for row in range(self._right_spine.shape[1]):
            symbol = self._right_spine[left, row]
            open_rows = np.flatnonzero((symbol != NONE) & ~crossed)
            if not len(open_rows):
                break
            symbol, symbol_taken = symbol[open_rows], self._right_taken[left[open_rows], row]
            symbol_created = self._created[symbol]
            for column in range(self._left_spine.shape[1]):
                other = self._left_spine[right[open_rows], column]
                here = np.flatnonzero(other != NONE)
                if not len(here):
                    break
                if ignore_whole and row == column == 0:
                    continue
                other = other[here]
                other_taken = self._left_taken[right[open_rows[here]], column]
                rank = self._lookup(symbol[here], other)
                crosses = (rank < symbol_taken[here]) & (rank <= other_taken)
                crosses &= (symbol_created[here] <= other_taken) & (self._created[other] < symbol_taken[here])
                crosses &= rank < self._never
                crossed[open_rows[here[crosses]]] = True
        return crossed

    def allowed_pairs(self, left: Integers, right: Integers) -> Booleans:
        """(n,) for each pair of tokens whether BPE makes exactly these two of their bytes."""
        allowed = self.is_canonical[left] & self.is_canonical[right]
        allowed[allowed] = ~self._is_crossed(left[allowed], right[allowed])
        odd = ~(self._is_orderly[left] & self._is_orderly[right]) & self.is_canonical[left] & self.is_canonical[right]
        for index in np.flatnonzero(odd):
            allowed[index] = self._decide(int(left[index]), int(right[index]))
        return allowed

    def allowed_after(self, left: int, tokens: npt.NDArray[np.int32]) -> Booleans:
        """(n,) which of `tokens`, each canonical by itself, may follow `left` inside a pre-token."""
        if not self._is_orderly[left]:
            return np.array([self._decide(left, token) for token in tokens.tolist()], np.bool_)
        answers = np.full(self._size, _YES, np.uint8)
        answers[self._refused_after(left)] = _NO
        answers[self._disorderly] = _OPEN
        answers = answers[tokens]
        for index in np.flatnonzero(answers == _OPEN) if len(self._disorderly) else ():
            answers[index] = _YES if self._decide(left, int(tokens[index])) else _NO
        return answers.view(np.bool_)

    def allows(self, left: int, right: int) -> bool:
        """Whether the canonical token `right` may follow `left` inside a pre-token."""
        if not (self._is_orderly[left] and self._is_orderly[right]):
            return self._decide(left, right)
        return not (self._refused_after(left) == right).any()

    # -- all refused successors of a token, from an index of left spines ---------------------------------------------

    def _index_right_tokens(self) -> None:
        """For each symbol the tokens whose left spine it is on, those that keep it longest first."""
        token, column = np.nonzero(self._left_spine != NONE)
        symbol = self._left_spine[token, column].astype(np.int64)
        keeps = self._never - self._left_taken[token, column].astype(np.int64)
        key = symbol * (self._never + 1) + keeps
        order = np.argsort(key, kind="stable")
        self._spine_key, self._spine_token = key[order], token[order]
        by_left = np.lexsort((np.arange(len(self._merge_left)), self._merge_left))
        self._merges_by_left = by_left
        self._first_by_left = np.searchsorted(self._merge_left[by_left], np.arange(self._size + 1))

    def _refused_after(self, left: int) -> Integers:
        """The tokens that may not follow an orderly token, as far as they are orderly; unsorted, with repetitions."""
        refused = self._refused.get(left)
        if refused is None:
            parts = []
            for symbol, taken in zip(self._right_spine[left].tolist(), self._right_taken[left].tolist(), strict=True):
                if symbol == NONE:
                    break
                begin, end = self._refused_ranges(symbol, taken)
                _, place = expand(begin, end - begin)
                parts.append(self._spine_token[place])
            refused = np.concatenate(parts)
            if len(self._refused) >= REMEMBERED_TOKENS:
                self._refused.pop(next(iter(self._refused)))
            self._refused[left] = refused
        return refused

    @cached_property
    def refused_counts(self) -> Integers:
        """(size,) an upper bound of how many tokens are refused after each token, for counting arguments.

        The sum over its right spine of how many tokens each symbol on it refuses; no less than the whole vocabulary
        for a token that ranks do not decide.
        """
        everything = len(self._token_bytes)
        ranks = self._merges_by_left
        right = self._merge_right[ranks]
        base = right * (self._never + 1)
        latest = np.maximum(ranks, self._created[self._merge_left[ranks]])
        low = np.searchsorted(self._spine_key, base, side="left")
        size = np.searchsorted(self._spine_key, base + (self._never - latest), side="right") - low
        total = np.concatenate([[0], np.cumsum(size)])
        key = self._merge_left[ranks] * (self._never + 1) + ranks
        counts = np.zeros(self._size, np.int64)
        for symbol, taken in zip(self._right_spine.T, self._right_taken.T, strict=True):
            here = np.flatnonzero(symbol != NONE)
            begin = self._first_by_left[symbol[here]]
            end = np.searchsorted(key, symbol[here].astype(np.int64) * (self._never + 1) + taken[here])
            counts[here] += total[end] - total[begin]
        odd = int(np.count_nonzero(~self._is_orderly))
        return np.where(self._is_orderly & self.is_canonical, counts + odd, everything)

    def _refused_ranges(self, symbol: int, taken: int) -> tuple[Integers, Integers]:
        """Ranges of `_spine_token` that a last symbol, alive until the rank `taken`, merges with."""
        ranks = self._merges_by_left[self._first_by_left[symbol] : self._first_by_left[symbol + 1]]
        ranks = ranks[: np.searchsorted(ranks, taken)]
        right = self._merge_right[ranks]
        ranks, right = ranks[self._created[right] < taken], right[self._created[right] < taken]
        latest = np.maximum(ranks, self._created[symbol])
        base = right * (self._never + 1)
        return (
            np.searchsorted(self._spine_key, base, side="left"),
            np.searchsorted(self._spine_key, base + (self._never - latest), side="right"),
        )

    # -- BPE itself, for the few pairs that ranks do not decide --------------------------------------------------------

    def _decide(self, left: int, right: int) -> bool:
        pair = (left, right)
        decided = self._pairs.get(pair)
        if decided is None:
            if len(self._pairs) > 1_000_000:
                self._pairs.clear()
            data = (self._token_bytes[left] or b"") + (self._token_bytes[right] or b"")
            decided = self._pairs[pair] = self.encode(data) == [left, right]
        return decided

    def encode(self, data: bytes) -> list[int]:
        """BPE of one pre-token. Bytes that have no token of their own are left out, as the library does."""
        return self._run(data)[0]

    def merges_of(self, data: bytes) -> list[Merge]:
        """The merges that BPE makes in one pre-token, in the order in which it makes them."""
        return self._run(data)[1]

    def _run_bpe(self, token: int) -> list[tuple[int, int]]:
        """The last merge of the token's own run, in a list; an empty list when BPE makes no single token of it."""
        tokens, made = self._run(self._token_bytes[token] or b"")
        return [(made[-1].left, made[-1].right)] if tokens == [token] and made else []

    def _run(self, data: bytes) -> tuple[list[int], list[Merge]]:
        symbols = [symbol for symbol in self._symbols(data) if symbol in self._single]
        tokens: list[int] = [self._single[symbol] for symbol in symbols]
        begins = [0, *itertools.accumulate(map(len, symbols))]
        following = [*range(1, len(tokens)), NONE]
        before = list(range(-1, len(tokens) - 1))
        queue = [
            (self._merge[pair][0], index, pair)
            for index, pair in enumerate(itertools.pairwise(tokens))
            if pair in self._merge
        ]
        heapq.heapify(queue)
        made: list[Merge] = []
        while queue:
            rank, index, pair = heapq.heappop(queue)
            after = following[index]
            if tokens[index] != pair[0] or after == NONE or tokens[after] != pair[1]:
                continue  # one of the two was taken by another merge
            made.append(Merge(rank, *pair, self._merge[pair][1], begins[after]))
            tokens[index], tokens[after] = self._merge[pair][1], NONE
            following[index] = following[after]
            if following[index] != NONE:
                before[following[index]] = index
            for start in (before[index], index):
                if start != NONE and following[start] != NONE:
                    new = (tokens[start], tokens[following[start]])
                    if new in self._merge:
                        heapq.heappush(queue, (self._merge[new][0], start, new))
        return [token for token in tokens if token != NONE], made


def _bytes(data: bytes) -> list[bytes]:
    return [bytes([byte]) for byte in data]


def _characters(data: bytes) -> list[bytes]:
    """The characters of `data`; none where it is not valid UTF-8, as in the tokens for single bytes."""
    try:
        return [character.encode() for character in data.decode()]
    except UnicodeDecodeError:
        return []
