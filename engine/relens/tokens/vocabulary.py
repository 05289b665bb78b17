"""What each token spells, as bytes, and all tokens together as a trie.

The tokens c, a, t, ca, at and cat make the trie

    root --c--> 1 --a--> 4 --t--> 6        tokens: 1 c, 2 a, 3 t, 4 ca, 5 at, 6 cat
    root --a--> 2 --t--> 5
    root --t--> 3

numbered level by level and, within a level, in the order of the spelled bytes. With that numbering the children of a
node are neighbours, and so are the nodes of a level: a walk of the whole trie is one array operation a level.

Facts of real vocabularies that everything here allows for: special tokens spell nothing; two ids may spell the same
bytes; some single bytes may have no token at all (21 of them in SmolLM2's vocabulary).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

ROOT = 0


class FirstBytes(NamedTuple):
    """(256,), what the node of each single byte has by itself; (256, 256), the whole subtree behind each two bytes."""

    alone: npt.NDArray[np.float32]
    pairs: npt.NDArray[np.float32]


class Trie:
    """The vocabulary as a trie of `nodes` nodes; node 0 is the root.

    parent, byte: (nodes,), the edge into each node. first_child: (nodes + 1,); the children of node n are
    first_child[n] to first_child[n + 1] - 1, with ascending bytes. level_start: the first node of each depth, and
    `nodes` at the end. node_of_token: (size,), the node that a token ends in, -1 for a token that spells nothing.
    node_tokens, first_token: the tokens that end in node n are node_tokens[first_token[n] : first_token[n + 1]].
    Building takes one sort and one pass over the bytes of the vocabulary: O(total bytes), vectorised by depth.
    """

    def __init__(self, token_bytes: Sequence[bytes | None]) -> None:
        spelled = sorted((spelling, token) for token, spelling in enumerate(token_bytes) if spelling)
        tokens = np.array([token for _, token in spelled], np.int64)
        lengths = np.array([len(spelling) for spelling, _ in spelled], np.int64)
        data = np.frombuffer(b"".join(spelling for spelling, _ in spelled), np.uint8)
        offsets = np.cumsum(lengths) - lengths

        parents, bytes_, level_start = [np.array([-1])], [np.zeros(1, np.uint8)], [0, 1]
        node = np.zeros(len(spelled), np.int64)
        active = np.arange(len(spelled))
        depth = 0
        while len(active):
            above, letter = node[active], data[offsets[active] + depth]
            is_new = np.ones(len(active), bool)
            is_new[1:] = (above[1:] != above[:-1]) | (letter[1:] != letter[:-1])
            parents.append(above[is_new])
            bytes_.append(letter[is_new])
            node[active] = level_start[-1] + np.cumsum(is_new) - 1
            level_start.append(level_start[-1] + int(is_new.sum()))
            depth += 1
            active = active[lengths[active] > depth]

        self.parent = np.concatenate(parents).astype(np.int32)
        self.byte = np.concatenate(bytes_)
        self.nodes = len(self.parent)
        self.level_start = level_start
        self.first_child = np.searchsorted(self.parent, np.arange(self.nodes + 1)).astype(np.int32)
        self.node_of_token = np.full(len(token_bytes), -1, np.int32)
        self.node_of_token[tokens] = node
        by_node = np.argsort(node, kind="stable")
        self.node_tokens = tokens[by_node].astype(np.int32)
        self.first_token = np.searchsorted(node[by_node], np.arange(self.nodes + 1)).astype(np.int32)

    @cached_property
    def nodes_below(self) -> npt.NDArray[np.int64]:
        """(nodes,) how many nodes the subtree under each node has, itself included."""
        return self._sum_below(np.ones(self.nodes, np.int64))

    @cached_property
    def tokens_below(self) -> npt.NDArray[np.int64]:
        """(nodes,) how many tokens end in the subtree under each node, itself included."""
        return self._sum_below(np.diff(self.first_token).astype(np.int64))

    @cached_property
    def nodes_by_first_bytes(self) -> FirstBytes:
        """`nodes_below` by the bytes that a subtree begins with."""
        return self._by_first_bytes(self.nodes_below)

    @cached_property
    def tokens_by_first_bytes(self) -> FirstBytes:
        """`tokens_below` by the bytes that a subtree begins with."""
        return self._by_first_bytes(self.tokens_below)

    def _by_first_bytes(self, below: npt.NDArray[np.int64]) -> FirstBytes:
        alone, pairs = np.zeros(256, np.float32), np.zeros((256, 256), np.float32)
        bounds = [*self.level_start, self.nodes, self.nodes]
        first, second = np.arange(bounds[1], bounds[2]), np.arange(bounds[2], bounds[3])
        pairs[self.byte[self.parent[second]], self.byte[second]] = below[second]
        alone[self.byte[first]] = below[first]
        return FirstBytes(alone - pairs.sum(axis=1), pairs)

    def _sum_below(self, total: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        for low, high in reversed(list(zip(self.level_start[1:-1], self.level_start[2:], strict=True))):
            np.add.at(total, self.parent[low:high], total[low:high])
        return total


class Vocabulary:
    """The bytes of every token id, None for the ids that spell nothing, and their trie."""

    def __init__(self, token_bytes: Iterable[bytes | None]) -> None:
        self.token_bytes: tuple[bytes | None, ...] = tuple(spelling or None for spelling in token_bytes)

    def __len__(self) -> int:
        return len(self.token_bytes)

    def __getitem__(self, token: int) -> bytes | None:
        return self.token_bytes[token]

    @cached_property
    def trie(self) -> Trie:
        """The trie of all tokens that spell something; built at the first use."""
        return Trie(self.token_bytes)

    @cached_property
    def single_bytes(self) -> npt.NDArray[np.bool_]:
        """(256,) whether some token spells exactly this byte."""
        present = np.zeros(256, np.bool_)
        present[[spelling[0] for spelling in self.token_bytes if spelling and len(spelling) == 1]] = True
        return present

    @cached_property
    def longest(self) -> int:
        """Length in bytes of the longest token."""
        return max((len(spelling) for spelling in self.token_bytes if spelling), default=0)
