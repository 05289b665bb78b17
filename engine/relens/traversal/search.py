"""The base of all traversals: each walks an automaton, and none calls the model.

A search goes as far as it can with what it knows. Then it names the nodes whose next-token distributions it needs, and
waits. A driver (`relens.traversal.scheduler`) collects the nodes of one search or of a hundred, calls the model once,
and hands the distributions back:

    matches = search.gather(room=64)    matches that are certain by now; search.pending = nodes 7, 9, 12
    children = select(model(search.pending), search.requests())
    search.receive(children)

So whether searches run one by one or side by side changes nothing in any of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from relens.models.scoring import ROOT, Scorer, TokenTree
from relens.query import Decoding
from relens.traversal.legal import ENDED
from relens.traversal.nodes import SearchNodes
from relens.traversal.selection import Children, Request


@dataclass(frozen=True, slots=True)
class TokenMatch:
    """One match as the traversal sees it: token ids without begin and end of text, and scores in nats.

    token_log_probs and token_decoder_log_probs have one term a token, and one more for an end-of-text token, which
    `ended` says is there. weight, count: see `relens.traversal.results.Match`.
    """

    token_ids: tuple[int, ...]
    prefix_tokens: int
    prefix_log_prob: float
    log_prob: float
    decoder_log_prob: float
    token_log_probs: tuple[float, ...]
    token_decoder_log_probs: tuple[float, ...]
    ended: bool
    weight: float
    count: int = 1


@dataclass(frozen=True, slots=True)
class Account:
    """The account of a search, to be added up over searches: small, where a search itself may hold megabytes.

    The fields are those of `relens.traversal.results.Progress`.
    """

    expansions: int = 0
    found_mass: float = 0.0
    remaining_mass: float = 0.0
    mass_is_joint: bool = False
    samples: int = 0
    failed: int = 0
    frontier: int = 0

    def __add__(self, other: Account) -> Account:
        return Account(
            self.expansions + other.expansions,
            self.found_mass + other.found_mass,
            self.remaining_mass + other.remaining_mass,
            self.mass_is_joint or other.mass_is_joint,
            self.samples + other.samples,
            self.failed + other.failed,
            self.frontier + other.frontier,
        )


class Search(ABC):
    """A traversal in progress.

    pending: the nodes of `scorer.tree` that wait for their distributions, parents before children. expansions: how many
    nodes have had theirs. joint: how prefix arcs rank among its children, see `select_children`.
    """

    scorer: Scorer
    decoding: Decoding
    joint: bool = False
    pending: list[int]
    expansions: int = 0

    @abstractmethod
    def gather(self, room: int, limit: int | None = None) -> list[TokenMatch]:
        """Go on without the model: the matches that are certain now, at most `limit`, or else nodes in `pending`.

        room: how many nodes the next forward takes; a chain of forced tokens may take more.
        """

    @abstractmethod
    def requests(self) -> list[Request]:
        """What to select from the distribution of each node of `pending`, in the same order."""

    @abstractmethod
    def receive(self, selected: Sequence[Children]) -> None:
        """Take what was selected for `requests()`; `pending` is empty again."""

    @property
    @abstractmethod
    def account(self) -> Account:
        """The account so far."""

    @property
    @abstractmethod
    def ended(self) -> str:
        """Why nothing more will come, "" while something may: see `relens.traversal.results.Progress`."""


def match_at(tree: TokenTree, nodes: SearchNodes, node: int, weight: float, count: int = 1) -> TokenMatch:
    """The match that ends at a node, its terms from the cumulative scores on the way there."""
    path = _path(tree, node)
    from_root = [ROOT, *path]
    terms = np.diff(nodes.prefix_log_prob[from_root] + nodes.log_prob[from_root])
    decoder_terms = np.diff(nodes.decoder_log_prob[from_root])
    token_ids = tree.tokens[path].tolist()
    ended = bool(nodes.state[node] == ENDED)
    return TokenMatch(
        token_ids=tuple(token_ids[:-1] if ended else token_ids),
        prefix_tokens=int(np.count_nonzero(nodes.in_prefix[path])),
        prefix_log_prob=float(nodes.prefix_log_prob[node]),
        log_prob=float(nodes.log_prob[node]),
        decoder_log_prob=float(nodes.decoder_log_prob[node]),
        token_log_probs=tuple(terms.tolist()),
        token_decoder_log_probs=tuple(decoder_terms.tolist()),
        ended=ended,
        weight=weight,
        count=count,
    )


def _path(tree: TokenTree, node: int) -> list[int]:
    path = []
    while node != ROOT:
        path.append(node)
        node = int(tree.parents[node])
    return path[::-1]
