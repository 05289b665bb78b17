"""All encodings of one text as a lattice, counted without writing them out.

With the tokens t, h, e, th, he and the, the text `the` has four encodings, and they are the paths of

    0 --t--> 1 --h--> 2 --e--> 3        t h e    th e    t he    the
    0 ----th-------> 2
             1 ------he------> 3
    0 ---------the-----------> 3

whose states are the places between the bytes. How many paths lead to a place is the sum over the tokens that end
there, so one pass from left to right counts them all. Where every piece of a text of n bytes were a token, each of the
n - 1 places inside would be cut or not, and there would be 2^(n-1) encodings.

Of tokenizers that put a space before a text (SentencePiece), the bytes are those with the space, and since decoding
drops it, an encoding may also begin right behind it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from relens.errors import LimitError, QueryError
from relens.record import Record
from relens.tokens.tokenizer import Tokenizer
from relens.tokens.vocabulary import ROOT, Trie

#: The longest text. The work grows with its length times the longest token.
MOST_CHARACTERS = 200


@dataclass(frozen=True, order=True)
class TokenArc(Record):
    """`token` spells the bytes from place `source` to place `target`."""

    source: int
    target: int
    token: int


@dataclass(frozen=True)
class TokenLattice(Record):
    """The encodings of `text` by one tokenizer.

    spelled: the bytes that are spelled, as Latin-1 text (one character a byte); a space is put before them where the
    tokenizer puts one. arcs: ascending; each is part of at least one encoding. canonical: the tokenizer's own encoding,
    None where it spells something else, because the tokenizer normalizes the text or does not know all of it.
    count: of encodings.
    """

    text: str
    spelled: str
    arcs: tuple[TokenArc, ...]
    canonical: tuple[int, ...] | None
    count: int

    @property
    def data(self) -> bytes:
        """The bytes that are spelled."""
        return self.spelled.encode("latin-1")

    @property
    def at_most(self) -> int:
        """How many encodings there would be if every piece of the bytes were a token: 2^(n-1) of n bytes."""
        return 1 << max(len(self.spelled) - 1, 0)

    @property
    def canonical_path(self) -> tuple[TokenArc, ...]:
        """The arcs of the canonical encoding, from left to right; () where there is none."""
        if self.canonical is None:
            return ()
        path: list[TokenArc] = []
        ends = {(arc.source, arc.token): arc for arc in self.arcs}
        place = 0
        for token in self.canonical:
            path.append(ends[place, token])
            place = path[-1].target
        return tuple(path)

    def fewest(self, count: int) -> list[tuple[int, ...]]:
        """The `count` encodings with the fewest tokens, fewest first; equally short ones in an order of their own.

        O(arcs x count): each place keeps its `count` best beginnings.
        """
        beginnings: dict[int, list[tuple[int, tuple[int, ...]]]] = {0: [(0, ())]}
        arriving: dict[int, list[TokenArc]] = {}
        for arc in self.arcs:
            arriving.setdefault(arc.target, []).append(arc)
        for target in sorted(arriving):
            longer = (
                (length + 1, (*tokens, arc.token))
                for arc in arriving[target]
                for length, tokens in beginnings.get(arc.source, [])
            )
            beginnings[target] = heapq.nsmallest(count, longer)
        return [tokens for _, tokens in beginnings.get(len(self.spelled), [])]


def token_lattice(text: str, tokenizer: Tokenizer, continues: bool = False) -> TokenLattice:
    """The lattice of all encodings of `text` (ReLM section 3.2, "all encodings", of a single string).

    continues: the text goes on from another one, so no space is put before it. Raises `QueryError` for an empty text or
    one that is no Unicode, and `LimitError` for more than `MOST_CHARACTERS`.
    """
    if not text:
        raise QueryError("The text is empty.")
    if len(text) > MOST_CHARACTERS:
        sentence = f"The text has {len(text):,} characters; all encodings are listed for at most {MOST_CHARACTERS}."
        raise LimitError(sentence, limit="characters")
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise QueryError(f"The text has half a character, at position {error.start}.") from None
    has_space = tokenizer.drops_first_space and not continues
    data = b" " + data if has_space else data
    arcs = list(_token_arcs(tokenizer.vocabulary.trie, data))
    if has_space and not text.startswith(" "):
        arcs += [TokenArc(0, arc.target, arc.token) for arc in arcs if arc.source == 1]
    arcs = _useful(sorted(set(arcs)), len(data))
    canonical = tuple(tokenizer.encode(text, continues))
    spells = b"".join(tokenizer.vocabulary[token] or b"" for token in canonical) == data
    known = {(arc.source, arc.token) for arc in arcs}
    if not spells or (0, canonical[0]) not in known:
        return TokenLattice(text, data.decode("latin-1"), tuple(arcs), None, _count(arcs, len(data)))
    return TokenLattice(text, data.decode("latin-1"), tuple(arcs), canonical, _count(arcs, len(data)))


def _token_arcs(trie: Trie, data: bytes) -> Iterator[TokenArc]:
    """Every token at every place where it spells what comes there."""
    for source in range(len(data)):
        node = ROOT
        for target in range(source + 1, len(data) + 1):
            low, high = int(trie.first_child[node]), int(trie.first_child[node + 1])
            byte = data[target - 1]
            node = low + int(np.searchsorted(trie.byte[low:high], byte))
            if node == high or trie.byte[node] != byte:
                break
            for token in trie.node_tokens[trie.first_token[node] : trie.first_token[node + 1]].tolist():
                yield TokenArc(source, target, token)


def _useful(arcs: list[TokenArc], end: int) -> list[TokenArc]:
    """The arcs on a way from the first place to the last: a byte without a token of its own makes dead ends."""
    reached, leading = {0}, {end}
    for arc in arcs:  # ascending by source
        if arc.source in reached:
            reached.add(arc.target)
    for arc in sorted(arcs, key=lambda arc: -arc.target):
        if arc.target in leading:
            leading.add(arc.source)
    return [arc for arc in arcs if arc.source in reached and arc.target in leading]


def _count(arcs: list[TokenArc], end: int) -> int:
    """How many paths lead from the first place to the last, exactly."""
    ways = [1] + [0] * end
    for arc in arcs:  # ascending by source, so all ways to a source are known
        ways[arc.target] += ways[arc.source]
    return ways[end]
