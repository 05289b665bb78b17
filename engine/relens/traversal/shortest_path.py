"""Exact best-first search for the most probable strings of a language, many nodes to a forward.

For the pattern ` (cat|dog)s?` after `The` the search grows this tree, where a number is a rank (a log-probability,
higher is better) and only what is marked with * was given to the model:

    The*  -+-  " dog" -2.1*  -+-  "s" -3.3        matches, in order: " dog" -2.1, " cat" -3.0, " dogs" -3.3
           |
           +-  " cat" -3.0

A node's rank never exceeds its parent's, so once the best entry of the frontier is a match, nothing can beat it: it is
emitted. Dijkstra's algorithm, then, with two departures, neither of which changes the order of the matches.

*Lazy children.* An opened node keeps its best children sorted and has one entry on the frontier, for its next child;
taking the entry makes that child a node and offers the one after. When the kept children run out, the node goes to the
model once more for the next, larger chunk. So an open class with 13,000 arcs costs what is looked at.

*Speculation.* A forward with 64 nodes costs little more than one with 8, so the search opens the best B nodes at
once, and a match that comes up behind an unopened node waits until that node is open. B grows with the work done, to
at most half of it: so the nodes that turn out not to have been needed stay a fraction of all.

A node with a single legal token is given to the model together with the chain of forced tokens below it.

Source: Kuchnik, Smith, Amvrosiadis, "Validating Large Language Models with ReLM", section 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from relens.models.scoring import ROOT, Scorer
from relens.query import Decoding
from relens.tokens.automaton import TokenAutomaton
from relens.traversal.frontier import Frontier
from relens.traversal.given import first_given_token, prefix_is_literal
from relens.traversal.legal import ENDED, Ending, LegalTokens
from relens.traversal.mass import MassBounds
from relens.traversal.nodes import Child, SearchNodes
from relens.traversal.search import Account, Search, TokenMatch, match_at
from relens.traversal.selection import Children, Request

#: How many children an opened node keeps at first, and by how much the next chunk is larger.
FIRST_CHUNK, CHUNK_GROWTH = 64, 8

#: The longest forced chain given to the model in one call.
LONGEST_CHAIN = 256


class Standing(NamedTuple):
    """What is known of a node: its automaton state, its cost (negative rank, nats), and whether it is a match."""

    state: int
    cost: float
    in_prefix: bool
    is_match: bool


class FrontierEntry(NamedTuple):
    """One entry of the frontier. kind: "match" (to be emitted), "child" (on offer by `node`), "node" (to be scored).

    token: the child's, None of the others. state, cost: of the match, the child, the node. behind: how many more
    children `node` keeps after the one on offer.
    """

    kind: Literal["match", "child", "node"]
    node: int
    token: int | None
    state: int
    cost: float
    behind: int = 0


class ShortestPathSearch(Search):
    """One best-first search.

    rank: "joint" orders by prefix_log_prob + decoder_log_prob, "conditional" by decoder_log_prob alone.
    ending: where the end-of-text token is legal. tolerance: end when the mass that is open is at most this share of
    what was found (None: only when every match was found).
    max_tokens: the longest token sequence considered, begin and end of text not counted.
    Raises `QueryError` where the first token has no distribution or the prefix is too long for max_tokens or the model.
    """

    def __init__(
        self,
        automaton: TokenAutomaton,
        scorer: Scorer,
        *,
        decoding: Decoding | None = None,
        rank: Literal["joint", "conditional"] = "joint",
        ending: Ending | None = None,
        tolerance: float | None = None,
        max_tokens: int = 256,
        first_chunk: int = FIRST_CHUNK,
    ) -> None:
        self.scorer = scorer
        self.decoding = decoding or Decoding()
        self.joint = rank == "joint"
        self.pending = []
        self._automaton = automaton
        self._tolerance = tolerance
        self._first_chunk = first_chunk
        self._tree = scorer.tree
        self._nodes = SearchNodes()
        longest = min(max_tokens, scorer.context_length)
        self._legal = LegalTokens(
            automaton,
            self._tree,
            self._nodes,
            ending=ending or Ending(),
            max_tokens=longest,
            vocabulary_size=scorer.vocabulary_size,
        )
        self._frontier = Frontier()
        self._bounds = MassBounds()
        self._had: dict[int, npt.NDArray[np.int32]] = {}
        self._forced: dict[int, int] = {}
        self._closed: list[int] = []
        self.mass_is_joint = not prefix_is_literal(automaton, longest, scorer.context_length)
        self._begin()

    # What is known so far -------------------------------------------------------------------------------------

    @property
    def finished(self) -> bool:
        """Whether every match was emitted."""
        return not len(self._frontier)

    @property
    def ended(self) -> str:
        """See `Search.ended`."""
        if self.finished:
            return "exhausted"
        mass = self.found_mass
        settled = self._tolerance is not None and mass > 0.0 and self.remaining_mass <= self._tolerance * mass
        return "tolerance" if settled else ""

    @property
    def account(self) -> Account:
        """See `Search.account`."""
        return Account(
            expansions=self.expansions,
            found_mass=self.found_mass,
            remaining_mass=self.remaining_mass,
            mass_is_joint=self.mass_is_joint,
            frontier=len(self._frontier),
        )

    @property
    def found_mass(self) -> float:
        """The summed probability of the matches so far, each match that extends another left out."""
        return self._bounds.found

    @property
    def remaining_mass(self) -> float:
        """The probability of everything that is still open."""
        return 0.0 if self.finished else self._bounds.remaining

    def opened_with_rank(self, least: float) -> int:
        """How many nodes of at least this rank were given to the model: what no exact search can do without."""
        nodes, size = self._nodes, self._tree.size
        rank = nodes.decoder_log_prob[:size] + (nodes.prefix_log_prob[:size] if self.joint else 0.0)
        return int(np.count_nonzero(nodes.opened[:size] & (rank >= least)))

    # For observers: nothing here changes the search ------------------------------------------------------------

    def standing(self, node: int) -> Standing:
        """What is known of one node of the tree."""
        nodes = self._nodes
        cost = self._cost(node) + 0.0  # and so never -0
        return Standing(int(nodes.state[node]), cost, bool(nodes.in_prefix[node]), bool(nodes.is_match[node]))

    def open_entries(self, count: int) -> list[FrontierEntry]:
        """The `count` cheapest entries of the frontier, in the order in which they will be taken."""
        return [self._opened_entry(cost + 0.0, item) for cost, item in self._frontier.least(count)]

    def _opened_entry(self, cost: float, item: int) -> FrontierEntry:
        nodes = self._nodes
        if item < 0:
            return FrontierEntry("match", -item - 1, None, int(nodes.state[-item - 1]), cost)
        if not nodes.has_kept(item):
            return FrontierEntry("node", item, None, int(nodes.state[item]), cost)
        token = nodes.next_child(item).token
        behind = int(nodes.end[item] - nodes.cursor[item]) - 1
        return FrontierEntry("child", item, token, self._legal.state_after(item, token), cost, behind)

    # Beginning ------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._nodes.reserve(1)
        self._nodes.in_prefix[ROOT] = True
        self._nodes.state[ROOT] = self._automaton.start
        start = ROOT
        if not self.scorer.scores_root:
            start = self._make_child(ROOT, Child(first_given_token(self._automaton), True, 0.0, 0.0, 0.0, 0.0))
        if self._arrive(start):
            self._frontier.push(self._cost(start), start)

    # One round ------------------------------------------------------------------------------------------------

    def gather(self, room: int, limit: int | None = None) -> list[TokenMatch]:
        """The next matches in order of rank; where there are any, no node is pending."""
        matches: list[TokenMatch] = []
        held: list[tuple[float, int]] = []
        # At most half of what has been opened so far: see the module on speculation.
        size = min(room, max(1, self.expansions // 2))
        while len(self._frontier) and len(self.pending) < size:
            cost, item = self._frontier.pop()
            if item < 0:
                if self.pending:
                    held.append((cost, item))
                    if limit is not None and len(held) >= limit:
                        break  # nothing further down can be among these matches
                else:
                    matches.append(self._emit(-item - 1))
                    if limit is not None and len(matches) >= limit:
                        return matches
            elif matches:
                self._frontier.push(cost, item)
                return matches
            else:
                self._take(item)
        for cost, item in held:
            self._frontier.push(cost, item)
        return matches

    def _take(self, node: int) -> None:
        """Follow a frontier entry: make the child on offer and offer the next, or put the node on the list."""
        nodes = self._nodes
        if not nodes.has_kept(node):
            self._ask(node)
            return
        child = nodes.next_child(node)
        nodes.cursor[node] += 1
        if nodes.has_kept(node):
            self._frontier.push(self._child_cost(nodes.next_child(node)), node)
        elif nodes.more[node]:
            self._frontier.push(self._child_cost(child), node)
        made = self._make_child(node, child)
        expandable = self._arrive(made)
        if expandable and nodes.is_match[made]:
            self._frontier.push(self._cost(made), made)  # behind its own match, which need not wait for it
        elif expandable:
            self._ask(made)
        self._close(node)

    def _make_child(self, parent: int, child: Child) -> int:
        made = self._tree.add(parent, child.token)
        self._nodes.reserve(self._tree.size)
        self._nodes.set_scores(made, child)
        self._nodes.state[made] = self._legal.state_after(parent, child.token)
        return made

    def _arrive(self, node: int) -> bool:
        """Settle whether a node whose scores are known is a match, and return whether it can be opened."""
        nodes = self._nodes
        parent = int(self._tree.parents[node])
        if parent >= 0:
            nodes.covered[node] = nodes.covered[parent] or nodes.is_match[parent]
        if self._legal.is_match(node):
            nodes.is_match[node] = True
            self._frontier.push(self._cost(node), -node - 1)
        expandable = len(self._legal.arcs(node).tokens) > 0
        if expandable:
            if parent >= 0:
                nodes.open_children[parent] += 1
        elif not nodes.is_match[node] and not nodes.covered[node]:
            self._bounds.drop(self._weight(node))
        return expandable

    def requests(self) -> list[Request]:
        """For each pending node its best legal children, and more of them each time it returns."""
        return [self._request(node) for node in self.pending]

    def _request(self, node: int) -> Request:
        had = self._had.get(node)
        size = self._first_chunk if had is None else max(self._first_chunk, (CHUNK_GROWTH - 1) * len(had))
        return Request(*self._legal.arcs(node), size, had)

    # Asking the model -----------------------------------------------------------------------------------------

    def _ask(self, node: int) -> None:
        """Put a node on the list for the next forward, with the chain of forced tokens below it."""
        nodes = self._nodes
        self.pending.append(node)
        if nodes.opened[node]:
            had = nodes.kept_tokens(node)
            self._had[node] = np.concatenate([self._had[node], had]) if node in self._had else had
            return
        # Nothing else is open, so whatever ends the chain comes next in any case.
        alone = len(self.pending) == 1 and not len(self._frontier)
        arcs = self._legal.arcs(node)
        for _ in range(LONGEST_CHAIN):
            if len(arcs.tokens) != 1 or self._legal.state_after(node, int(arcs.tokens[0])) == ENDED:
                return
            link = Child(int(arcs.tokens[0]), bool(arcs.in_prefix[0]), 0.0, 0.0, 0.0, 0.0)  # scores come later
            child = self._make_child(node, link)
            self._forced[node] = child
            node = child
            arcs = self._legal.arcs(node)
            if not len(arcs.tokens) or self._legal.may_end(node) or not (alone or len(arcs.tokens) == 1):
                return
            self.pending.append(node)

    def receive(self, selected: Sequence[Children]) -> None:
        """See `Search.receive`."""
        scored, self.pending = self.pending, []
        self.expansions += len(scored)
        scored_set, cut = set(scored), set[int]()
        for node, children in zip(scored, selected, strict=True):
            if node in cut:
                continue
            if not self.mass_is_joint and children.in_prefix.any():
                # The one prefix path is given: it takes nothing from the mass.
                children = replace(children, log_weights=np.zeros(len(children.tokens)), mass=1.0)
            child = self._forced.pop(node, None)
            if child is None:
                self._open(node, children)
                continue
            # A forced chain goes on below this node: settle its next link, or cut everything that hangs on it.
            self._open_mass(node, children)
            self._nodes.opened[node] = True
            if not len(children.tokens):
                self._cut_chain(child, cut)
            else:
                self._settle_link(node, child, children, child in scored_set)
            self._close(node)
        if self._closed:
            self.scorer.release(self._closed)
            self._closed = []

    def _settle_link(self, node: int, child: int, children: Children, is_scored: bool) -> None:
        """The only child of `node` was made before its score was known: write the score down."""
        self._nodes.keep_children(node, children)
        self._nodes.set_scores(child, self._nodes.next_child(node))
        self._nodes.cursor[node] += 1
        if self._arrive(child) and not is_scored:
            self._frontier.push(self._cost(child), child)

    def _cut_chain(self, child: int, cut: set[int]) -> None:
        link: int | None = child
        while link is not None:
            cut.add(link)
            link = self._forced.pop(link, None)

    def _open(self, node: int, children: Children) -> None:
        if not self._nodes.opened[node]:
            self._open_mass(node, children)
        self._nodes.keep_children(node, children)
        if not children.more:
            self._had.pop(node, None)
        if self._nodes.has_kept(node):
            self._frontier.push(self._child_cost(self._nodes.next_child(node)), node)
        self._close(node)

    def _open_mass(self, node: int, children: Children) -> None:
        if self._nodes.covered[node] or self._nodes.is_match[node]:
            return
        self._bounds.open(self._weight(node), children.mass)

    def _close(self, node: int) -> None:
        """Let go of a node below which nothing is open, and of its ancestors in turn."""
        nodes = self._nodes
        while (
            node >= 0
            and nodes.opened[node]
            and not nodes.has_kept(node)
            and not nodes.more[node]
            and nodes.open_children[node] == 0
        ):
            self._closed.append(node)
            node = int(self._tree.parents[node])
            if node >= 0:
                nodes.open_children[node] -= 1

    # Ranks, weights, matches ----------------------------------------------------------------------------------

    def _cost(self, node: int) -> float:
        decoder = float(self._nodes.decoder_log_prob[node])
        return -(decoder + float(self._nodes.prefix_log_prob[node])) if self.joint else -decoder

    def _child_cost(self, child: Child) -> float:
        return -(child.decoder_log_prob + child.prefix_log_prob) if self.joint else -child.decoder_log_prob

    def _weight(self, node: int) -> float:
        return math.exp(self._nodes.log_weight[node])

    def _emit(self, node: int) -> TokenMatch:
        is_new = not self._nodes.covered[node]
        weight = self._weight(node) if is_new else 0.0
        if is_new:
            self._bounds.find(weight)
        return match_at(self._tree, self._nodes, node, weight)
