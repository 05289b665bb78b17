"""What a best-first search knows of each node of its tree, in arrays.

A node's number is its number in the scorer's `TokenTree`. Its scores are cumulative from the root, so a term is the
difference to its parent's. An opened node keeps the children it was given, best first, in one shared arena, with a
cursor on the next one to offer:

    node 7    children " Feb" " January" " Ju"          offered: " Feb"      cursor -> " January"

About 60 bytes a node and 25 a kept child: millions of nodes fit.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from relens.traversal.selection import Children


class Child(NamedTuple):
    """One child on offer: the step to it, in nats, and its scores from the root."""

    token: int
    in_prefix: bool
    prefix_log_prob: float
    log_prob: float
    decoder_log_prob: float
    log_weight: float


def grown(array: npt.NDArray[np.generic], size: int) -> npt.NDArray[np.generic]:
    """`array`, or a copy of at least twice its length with zeros at the end, so that it holds `size` items."""
    if size <= len(array):
        return array
    return np.concatenate([array, np.zeros(max(size, 2 * len(array)) - len(array), array.dtype)])


class SearchNodes:
    """State, scores, flags and kept children of every node; all arrays share their index."""

    _COLUMNS: ClassVar[dict[str, type[np.generic]]] = {
        "state": np.int64,
        "prefix_log_prob": np.float64,
        "log_prob": np.float64,
        "decoder_log_prob": np.float64,
        "log_weight": np.float64,  # of the mass bounds
        "in_prefix": np.bool_,
        "is_match": np.bool_,  # the node itself is a match
        "covered": np.bool_,  # the node lies below a match, whose mass counts already
        "opened": np.bool_,  # its distribution is known
        "more": np.bool_,  # it has children beyond those kept
        "first": np.int64,  # where its kept children begin in the arena
        "cursor": np.int64,  # the next to offer
        "end": np.int64,  # one past the last
        "open_children": np.int32,  # expandable children below which something is open
    }

    state: npt.NDArray[np.int64]
    prefix_log_prob: npt.NDArray[np.float64]
    log_prob: npt.NDArray[np.float64]
    decoder_log_prob: npt.NDArray[np.float64]
    log_weight: npt.NDArray[np.float64]
    in_prefix: npt.NDArray[np.bool_]
    is_match: npt.NDArray[np.bool_]
    covered: npt.NDArray[np.bool_]
    opened: npt.NDArray[np.bool_]
    more: npt.NDArray[np.bool_]
    first: npt.NDArray[np.int64]
    cursor: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    open_children: npt.NDArray[np.int32]

    def __init__(self) -> None:
        for name, kind in self._COLUMNS.items():
            setattr(self, name, np.zeros(1024, kind))
        self._tokens: npt.NDArray[np.int32] = np.zeros(4096, np.int32)
        self._log_probs: npt.NDArray[np.float64] = np.zeros(4096, np.float64)
        self._decoder_log_probs: npt.NDArray[np.float64] = np.zeros(4096, np.float64)
        self._log_weights: npt.NDArray[np.float64] = np.zeros(4096, np.float64)
        self._in_prefix: npt.NDArray[np.bool_] = np.zeros(4096, np.bool_)
        self._used = 0

    def reserve(self, size: int) -> None:
        """Make room for the nodes 0 to size - 1."""
        if size > len(self.state):
            for name in self._COLUMNS:
                setattr(self, name, grown(getattr(self, name), size))

    def keep_children(self, node: int, children: Children) -> None:
        """`node` is open, and these are its next children to offer; those kept before were all offered."""
        start, end = self._used, self._used + len(children.tokens)
        for name in ("_tokens", "_log_probs", "_decoder_log_probs", "_log_weights", "_in_prefix"):
            setattr(self, name, grown(getattr(self, name), end))
        self._tokens[start:end] = children.tokens
        self._log_probs[start:end] = children.log_probs
        self._decoder_log_probs[start:end] = children.decoder_log_probs
        self._log_weights[start:end] = children.log_weights
        self._in_prefix[start:end] = children.in_prefix
        self._used = end
        self.opened[node] = True
        self.more[node] = children.more
        self.first[node] = self.cursor[node] = start
        self.end[node] = end

    def has_kept(self, node: int) -> bool:
        """Whether a kept child is still to be offered."""
        return bool(self.cursor[node] < self.end[node])

    def kept_tokens(self, node: int) -> npt.NDArray[np.int32]:
        """The tokens of the children kept at present, offered or not."""
        return self._tokens[self.first[node] : self.end[node]].copy()

    def next_child(self, node: int) -> Child:
        """The child that `node` offers next."""
        position = self.cursor[node]
        prefix_log_prob = float(self.prefix_log_prob[node])
        log_prob, decoder_log_prob = float(self.log_prob[node]), float(self.decoder_log_prob[node])
        in_prefix = bool(self._in_prefix[position])
        if in_prefix:
            prefix_log_prob += float(self._log_probs[position])
        else:
            log_prob += float(self._log_probs[position])
            decoder_log_prob += float(self._decoder_log_probs[position])
        log_weight = float(self.log_weight[node] + self._log_weights[position])
        return Child(int(self._tokens[position]), in_prefix, prefix_log_prob, log_prob, decoder_log_prob, log_weight)

    def set_scores(self, node: int, child: Child) -> None:
        """Write the scores with which `node` was offered."""
        self.in_prefix[node] = child.in_prefix
        self.prefix_log_prob[node] = child.prefix_log_prob
        self.log_prob[node] = child.log_prob
        self.decoder_log_prob[node] = child.decoder_log_prob
        self.log_weight[node] = child.log_weight
