"""One scorer for many searches, each with a tree of its own.

Five hundred queries about five hundred texts are five hundred searches; one after the other, each begins with forwards
of one node. Side by side they fill the batch. A search numbers its nodes as it likes, so each is given a view:

    search A    node 3 = The cat sat           view A    3 -> 7
    search B    node 5 = The cat sat           view B    5 -> 7        the scorer's tree: 7 = The cat sat

Common paths of several searches are one path of the scorer, and it lets go of a node when the last search has.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from relens.models.scoring import ROOT, Scorer, ScoringCounts, TokenTree

UNPLACED = -1


class SharedScorer:
    """The scorer with its tree, in which no two nodes have the same path."""

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer
        self._children: dict[tuple[int, int], int] = {}
        self._users: dict[int, int] = {}

    @property
    def counts(self) -> ScoringCounts:
        """The cost of all searches together."""
        return self.scorer.counts

    @property
    def held_tokens(self) -> int:
        """How many nodes some search still holds."""
        return len(self._users)

    def view(self) -> ScorerView:
        """A scorer for one more search."""
        return ScorerView(self)

    def place(self, parent: int, token: int) -> int:
        """The node of `parent` followed by `token`, held once more."""
        key = (parent, token)
        node = self._children.get(key)
        if node is None:
            node = self._children[key] = self.scorer.tree.add(parent, token)
        self._users[node] = self._users.get(node, 0) + 1
        return node

    def let_go(self, nodes: Sequence[int]) -> None:
        """Each of these is held once less; nodes that no search holds are released."""
        tree = self.scorer.tree
        free = []
        for node in nodes:
            self._users[node] -= 1
            if not self._users[node]:
                del self._users[node]
                del self._children[int(tree.parents[node]), int(tree.tokens[node])]
                free.append(node)
        if free:
            self.scorer.release(free)


class ScorerView(Scorer):
    """What one search sees: a new tree, scored by the shared one."""

    def __init__(self, shared: SharedScorer) -> None:
        self.tree = TokenTree()
        self.counts = shared.counts
        self.vocabulary_size = shared.scorer.vocabulary_size
        self.context_length = shared.scorer.context_length
        self.scores_root = shared.scorer.scores_root
        self._shared = shared
        self._places: npt.NDArray[np.int64] = np.full(64, UNPLACED, np.int64)
        self._places[ROOT] = ROOT

    def places(self, nodes: Sequence[int]) -> npt.NDArray[np.int64]:
        """The nodes of the shared tree; those that are not in it yet are put there."""
        own = np.asarray(nodes, np.int64)
        self._reserve()
        for node in own[self._places[own] == UNPLACED].tolist():
            self._put(node)
        return self._places[own]

    def log_probs(self, nodes: Sequence[int]) -> torch.Tensor:
        """See `Scorer.log_probs`."""
        return self._shared.scorer.log_probs(self.places(nodes).tolist())

    def release(self, nodes: Sequence[int]) -> None:
        """See `Scorer.release`."""
        self._reserve()
        given = np.unique(np.asarray(nodes, np.int64))
        places = self._places[given]
        held = (places != UNPLACED) & (given != ROOT)
        self._places[given[held]] = UNPLACED
        self._shared.let_go(places[held].tolist())

    def close(self) -> None:
        """Let go of everything."""
        self.release(np.flatnonzero(self._places != UNPLACED).tolist())

    def _reserve(self) -> None:
        missing = self.tree.size - len(self._places)
        if missing > 0:
            more = np.full(max(missing, len(self._places)), UNPLACED, np.int64)
            self._places = np.concatenate([self._places, more])

    def _put(self, node: int) -> None:
        way = []
        while self._places[node] == UNPLACED:
            way.append(node)
            node = int(self.tree.parents[node])
        for below in reversed(way):
            parent = self._places[self.tree.parents[below]]
            self._places[below] = self._shared.place(int(parent), int(self.tree.tokens[below]))
