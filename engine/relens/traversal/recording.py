"""A recording of a best-first search: its expansions, the distributions, the open frontier, the matches.

For the pattern ` (cat|dog)` after `The`, with one node to a forward:

    round 1   asks      The                 it gets   " dog" 2.1   " cat" 3.0
              open      " dog" 2.1, on offer by The, which keeps " cat" behind it
    round 2   shows     "The dog" 2.1       nothing that is open is cheaper
    round 3   shows     "The cat" 3.0

The search itself knows nothing of this. All that passes between search and model goes through its driver; this driver
writes it down, with the frontier after each round. So nothing is replayed: these are the forwards of the search, taken
as from any other driver (`relens.traversal.scheduler`).

Tokens that the decoding rule cuts are computed besides, from the same distributions: a search never sees them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from relens.models.scoring import ROOT
from relens.query import Decoding
from relens.traversal.decoding import keep, tempered
from relens.traversal.search import Account, TokenMatch
from relens.traversal.selection import Children, Request, select_children
from relens.traversal.shortest_path import FrontierEntry, ShortestPathSearch

#: Of what a rule cuts at one node, at most so many tokens are written down, the likeliest.
MOST_CUT = 8


@dataclass(frozen=True)
class Cut:
    """A legal token that the rule cut: its place in the whole distribution, from 1, and its log-probability there."""

    token: int
    rank: int
    log_prob: float


@dataclass(frozen=True)
class Expansion:
    """A node that was given to the model, with the children that came back.

    why: "cheapest" (nothing open was cheaper), "ahead" (opened in the same forward on speculation), "chain" (the only
    way on below another node of this forward), "more" (further children of a node that was open already).
    cost: None for a link of a chain that the rule cut. legal: how many tokens the automaton allows. cut: the
    likeliest of those that the rule forbids; cut_count: how many these are.
    """

    node: int
    state: int
    cost: float | None
    why: Literal["cheapest", "ahead", "chain", "more"]
    legal: int
    children: Children
    cut: tuple[Cut, ...]
    cut_count: int


@dataclass(frozen=True)
class Made:
    """A node that came into the tree: cost None where the rule cut it as a link of a chain."""

    node: int
    parent: int
    token: int
    state: int
    cost: float | None
    in_prefix: bool
    is_match: bool


@dataclass(frozen=True)
class Emitted:
    """An emitted match: nothing open was cheaper."""

    node: int
    state: int
    cost: float
    match: TokenMatch


@dataclass(frozen=True)
class Round:
    """One round: matches, or else one forward. frontier: as it stands afterwards."""

    emitted: tuple[Emitted, ...]
    expansions: tuple[Expansion, ...]
    made: tuple[Made, ...]
    frontier: tuple[FrontierEntry, ...]
    account: Account


class Recorder:
    """Drives one search, at most `batch` nodes to a forward; `shown` entries of the frontier are written down.

    Nothing but this may drive the search, and its scorer's tree must be its own.
    """

    def __init__(self, search: ShortestPathSearch, batch: int, shown: int = 200) -> None:
        self._search = search
        self._tree = search.scorer.tree
        self._batch = batch
        self._shown = shown
        self._known = 1  # the root is there from the start
        self._nodes: dict[tuple[int, ...], int] = {(): ROOT}
        self._expanded: set[int] = set()
        self._cut: set[int] = set()

    @property
    def finished(self) -> bool:
        """Whether nothing more will come."""
        return bool(self._search.ended)

    def begin(self) -> Round:
        """The state before the first forward."""
        return self._round((), ())

    def step(self, limit: int | None = None) -> Round:
        """One round of the search, at most one forward; limit: the most matches to take.

        Raises `RuntimeError` where the search neither needs a distribution, nor has a match, nor ends.
        """
        search = self._search
        matches = search.gather(self._batch, limit)
        nodes, requests = list(search.pending), search.requests()
        if not matches and not nodes and not search.ended:
            raise RuntimeError("The search neither needs a distribution, nor has a match, nor ends.")
        selected: list[Children] = []
        cuts: list[tuple[tuple[Cut, ...], int]] = []
        if nodes:
            log_probs = search.scorer.log_probs(nodes)
            placed = [_in_row(request, row) for row, request in enumerate(requests)]
            selected = select_children(log_probs, placed, search.decoding, joint=search.joint)
            cuts = _cuts(log_probs, requests, search.decoding)
            search.receive(selected)
            self._note_cut_links(nodes, selected)
        expansions = tuple(
            self._describe(place, nodes, requests[place], selected[place], *cuts[place]) for place in range(len(nodes))
        )
        self._expanded.update(nodes)
        return self._round(matches, expansions)

    def _round(self, matches: list[TokenMatch] | tuple[()], expansions: tuple[Expansion, ...]) -> Round:
        made = tuple(self._made(node) for node in range(self._known, self._tree.size))
        self._known = self._tree.size
        return Round(
            emitted=tuple(self._emitted(match) for match in matches),
            expansions=expansions,
            made=made,
            frontier=tuple(self._search.open_entries(self._shown)),
            account=self._search.account,
        )

    def _describe(
        self, place: int, nodes: list[int], request: Request, children: Children, cut: tuple[Cut, ...], cut_count: int
    ) -> Expansion:
        node = nodes[place]
        why: Literal["cheapest", "ahead", "chain", "more"] = "ahead" if place else "cheapest"
        if int(self._tree.parents[node]) in nodes[:place]:
            why = "chain"
        elif node in self._expanded:
            why = "more"
        standing = self._search.standing(node)
        cost = None if node in self._cut else standing.cost
        return Expansion(node, standing.state, cost, why, len(request.tokens), children, cut, cut_count)

    def _note_cut_links(self, nodes: list[int], selected: list[Children]) -> None:
        """Links of forced chains are made before their scores are known; those that the rule forbids end there."""
        answers = dict(zip(nodes, selected, strict=True))
        for node in range(self._known, self._tree.size):
            parent = int(self._tree.parents[node])
            has_answer = parent in answers and not len(answers[parent].tokens)
            if parent in self._cut or (has_answer and parent not in self._expanded):
                self._cut.add(node)

    def _made(self, node: int) -> Made:
        standing = self._search.standing(node)
        self._nodes[tuple(self._tree.path(node))] = node
        return Made(
            node=node,
            parent=int(self._tree.parents[node]),
            token=int(self._tree.tokens[node]),
            state=standing.state,
            cost=None if node in self._cut else standing.cost,
            in_prefix=standing.in_prefix,
            is_match=standing.is_match,
        )

    def _emitted(self, match: TokenMatch) -> Emitted:
        """The node of a match: its path, which ends in the one end-of-text token there is where it has ended."""
        node = self._ended_node(match) if match.ended else self._nodes[match.token_ids]
        standing = self._search.standing(node)
        return Emitted(node, standing.state, standing.cost, match)

    def _ended_node(self, match: TokenMatch) -> int:
        length = len(match.token_ids)
        return next(
            node
            for path, node in self._nodes.items()
            if len(path) == length + 1
            and path[:length] == match.token_ids
            and self._search.standing(node).is_match
            and self._search.standing(node).state < 0
        )


def _in_row(request: Request, row: int) -> Request:
    return Request(request.tokens, request.in_prefix, request.size, request.had, row)


def _cuts(log_probs: torch.Tensor, requests: list[Request], decoding: Decoding) -> list[tuple[tuple[Cut, ...], int]]:
    """For each row the legal tokens that the rule forbids: the likeliest of them, and how many they are."""
    after = tempered(log_probs, decoding.temperature)
    thresholds = keep(after, decoding).threshold.tolist()
    answer = []
    for row, request, threshold in zip(after.cpu().numpy(), requests, thresholds, strict=True):
        tokens = request.tokens[~request.in_prefix]
        forbidden = tokens[row[tokens] < threshold]
        likeliest = forbidden[np.argsort(-row[forbidden], kind="stable")][:MOST_CUT]
        cut = tuple(
            Cut(int(token), int(np.count_nonzero(row > row[token])) + 1, float(row[token])) for token in likeliest
        )
        answer.append((cut, len(forbidden)))
    return answer
