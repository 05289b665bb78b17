"""The contract between a search and a model: a tree of token sequences, and next-token scores for its nodes.

A search grows a tree. Its root is the empty text (after begin-of-text, where the model has one) and the node for
`The cat` is the child `cat` of the node `The`. For the nodes it wants to go on from it asks for the model's next-token
distribution, many nodes at once. How the model shares work between nodes is the scorer's affair; that the answer for
a node depends on nothing but the node's own path is the law every scorer keeps:

    log_probs([a, b]) == [log_probs([a]), log_probs([b])]      (batch equals single, up to rounding)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

ROOT = 0


class TokenTree:
    """Token sequences that share their beginnings, as three growing arrays.

    `parents[n]` and `tokens[n]` describe the last step of node n and `depths[n]` its length; the root is node 0 with
    parent and token -1. A parent is always made before its children, so an ancestor has the smaller number.
    Adding is O(1) amortised; 16 bytes a node.
    """

    def __init__(self) -> None:
        self.size = 1
        self.parents: npt.NDArray[np.int64] = np.full(1024, -1, np.int64)
        self.tokens: npt.NDArray[np.int32] = np.full(1024, -1, np.int32)
        self.depths: npt.NDArray[np.int32] = np.zeros(1024, np.int32)

    def add(self, parent: int, token: int) -> int:
        """A new node: `parent` followed by `token`. The same pair twice makes two nodes."""
        node = self.size
        if node == len(self.parents):
            self.parents = np.concatenate([self.parents, np.full(node, -1, np.int64)])
            self.tokens = np.concatenate([self.tokens, np.full(node, -1, np.int32)])
            self.depths = np.concatenate([self.depths, np.zeros(node, np.int32)])
        self.parents[node] = parent
        self.tokens[node] = token
        self.depths[node] = self.depths[parent] + 1
        self.size += 1
        return node

    def path(self, node: int) -> list[int]:
        """The token ids from the root to `node`."""
        tokens: list[int] = []
        while node != ROOT:
            tokens.append(int(self.tokens[node]))
            node = int(self.parents[node])
        tokens.reverse()
        return tokens


@dataclass
class ScoringCounts:
    """The cost of scoring so far."""

    forwards: int = 0
    tokens_computed: int = 0
    seconds: float = 0.0


class Scorer(ABC):
    """Next-token distributions for the nodes of one tree, from one model."""

    tree: TokenTree
    counts: ScoringCounts
    #: Number of columns of `log_probs`; token ids at and above it have no score.
    vocabulary_size: int
    #: The most tokens of a path, begin-of-text not counted.
    context_length: int
    #: Whether the root has a distribution, which takes a begin-of-text token before it.
    scores_root: bool

    @abstractmethod
    def log_probs(self, nodes: Sequence[int]) -> torch.Tensor:
        """The model's log-probabilities after each node: shape (len(nodes), vocabulary_size), float32, nats.

        The tensor stays on the model's device. Nodes may be each other's ancestors: a forced chain is one call.
        Raises `ModelError` for the root of a model without a begin-of-text token, which has no distribution there.
        """

    def places(self, nodes: Sequence[int]) -> npt.NDArray[np.int64]:
        """A number for each node, the same for nodes that the model computes once because their paths are one path."""
        return np.asarray(nodes, np.int64)

    @abstractmethod
    def release(self, nodes: Sequence[int]) -> None:
        """Their memory may be reused: nothing below these nodes is expected to be scored again, but it may be."""
