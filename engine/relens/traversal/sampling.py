"""Ten thousand random draws for the price of the nodes they touch.

Drawing one text at a time runs the model on " The man was trained in" ten thousand times. But draws are counts:
of 10,000 at a node, the model's distribution there sends

    " art" 3,912     " science" 2,417     " medicine" 1,204     " computer" 311     ...

on to the children, by one multinomial draw. Then 311 go on from " computer" together. So a node is computed once,
however many draws pass through it, and a small language costs its distinct nodes.

What follows a given prefix is drawn among the legal tokens, in proportion to the decoder's own probabilities. That is
not yet the decoder conditioned on the language: at each node only the legal share m of the decoder's mass is drawn
from. The product of these m is the draw's weight w, and with it every estimate is right:

    E[w f(x)] = sum over x of P_decoder(x) f(x)         (importance sampling; P / proposal = w)

Where a text may end and also go on, the end-of-text token is one of the tokens to draw (`b` against `bb`).

Every node draws with a seed of its own, made from the seed of all and the path to it, so that the same draws come out
however the nodes are batched. Source: ReLM section 3.3, "Randomized traversals"; the weights are ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from relens.models.scoring import ROOT, Scorer
from relens.query import Decoding
from relens.tokens.automaton import TokenAutomaton
from relens.traversal.given import first_given_token, prefix_is_literal
from relens.traversal.legal import Ending, LegalTokens
from relens.traversal.nodes import Child, SearchNodes
from relens.traversal.search import Account, Search, TokenMatch, match_at
from relens.traversal.selection import Children, Request


class SamplingSearch(Search):
    """`count` draws from one automaton, split over the nodes of a tree; deepest nodes first, so that few are held.

    seed: what the generator of each node is made from, with the path to the node. ending: "settling" or "demanded".
    samples: how many draws have ended; failed: how many of these had no way on.
    Raises `QueryError` where the first token has no distribution or the prefix is too long for max_tokens or the model.
    """

    def __init__(
        self,
        automaton: TokenAutomaton,
        scorer: Scorer,
        count: int,
        *,
        seed: Sequence[int],
        ending: Ending,
        decoding: Decoding | None = None,
        max_tokens: int = 256,
    ) -> None:
        self.scorer = scorer
        self.decoding = decoding or Decoding()
        self.pending = []
        self.samples = 0
        self.failed = 0
        self._total = count
        self._seed = list(seed)
        self._tree = scorer.tree
        self._nodes = SearchNodes()
        longest = min(max_tokens, scorer.context_length)
        self._legal = LegalTokens(
            automaton,
            self._tree,
            self._nodes,
            ending=ending,
            max_tokens=longest,
            vocabulary_size=scorer.vocabulary_size,
        )
        self._prefix_is_given = prefix_is_literal(automaton, longest, scorer.context_length)
        #: How many draws go through a node, and how many of its children are not done with yet.
        self._draws: dict[int, int] = {}
        self._open_children: dict[int, int] = {}
        #: The only child of a node, made before its scores were known.
        self._forced: dict[int, int] = {}
        #: Nodes below a forced token that the rule turned out to cut.
        self._dead: set[int] = set()
        self._stack: list[int] = []
        self._ready: list[TokenMatch] = []
        self._closed: list[int] = []
        self._begin(automaton)

    def _begin(self, automaton: TokenAutomaton) -> None:
        self._nodes.reserve(1)
        self._nodes.in_prefix[ROOT] = True
        self._nodes.state[ROOT] = automaton.start
        self._draws[ROOT] = self._total
        start = ROOT
        if not self.scorer.scores_root:
            start = self._make_child(ROOT, Child(first_given_token(automaton), True, 0.0, 0.0, 0.0, 0.0), self._total)
        if len(self._legal.arcs(start).tokens):
            self._stack.append(start)
        else:
            self._end(start)

    @property
    def account(self) -> Account:
        """See `Search.account`."""
        return Account(expansions=self.expansions, samples=self.samples, failed=self.failed)

    @property
    def ended(self) -> str:
        """See `Search.ended`."""
        return "drawn" if self.samples == self._total and not self._ready else ""

    def gather(self, room: int, limit: int | None = None) -> list[TokenMatch]:
        """The draws that have ended since the last call, and pending nodes too. A sample has no `limit` of matches."""
        while self._stack and len(self.pending) < room:
            node = self._stack.pop()
            if node in self._dead:
                self._kill(node)
                continue
            self.pending.append(node)
            arcs = self._legal.arcs(node)
            if len(arcs.tokens) == 1:
                # The only way on needs no distribution to be found, only for its scores: they come later.
                link = Child(int(arcs.tokens[0]), bool(arcs.in_prefix[0]), 0.0, 0.0, 0.0, 0.0)
                child = self._forced[node] = self._make_child(node, link, self._draws[node])
                if len(self._legal.arcs(child).tokens):
                    self._stack.append(child)
        ready, self._ready = self._ready, []
        return ready

    def requests(self) -> list[Request]:
        """All legal children of each pending node."""
        arcs = [self._legal.arcs(node) for node in self.pending]
        return [Request(tokens, in_prefix, size=max(1, len(tokens))) for tokens, in_prefix in arcs]

    def receive(self, selected: Sequence[Children]) -> None:
        """See `Search.receive`."""
        scored, self.pending = self.pending, []
        self.expansions += len(scored)
        for node, children in zip(scored, selected, strict=True):
            if node in self._dead:
                self._closed.append(node)
                self._kill(node)
            elif not len(children.tokens):
                self._kill(node)
                self._fail(node)
            else:
                self._pass_on(node, children)
        if self._closed:
            self.scorer.release(self._closed)
            self._closed = []

    def _pass_on(self, node: int, children: Children) -> None:
        """Send the draws of a node on to its children."""
        if self._prefix_is_given and children.in_prefix.any():
            # The one prefix path is given: it takes nothing from the mass.
            children = replace(children, log_weights=np.zeros(len(children.tokens)), mass=1.0)
        forced = self._forced.pop(node, None)
        if forced is not None:
            self._nodes.set_scores(forced, self._step(node, children, 0))
            if not len(self._legal.arcs(forced).tokens):
                self._end(forced)
            return
        proposal = np.exp(children.log_weights - children.log_weights.max())
        generator = np.random.default_rng([*self._seed, *self._tree.path(node)])
        counts = generator.multinomial(self._draws[node], proposal / proposal.sum())
        made = [
            self._make_child(node, self._step(node, children, index), int(counts[index]))
            for index in np.flatnonzero(counts).tolist()
        ]
        for child in made:
            if len(self._legal.arcs(child).tokens):
                self._stack.append(child)
            else:
                self._end(child)

    def _step(self, node: int, children: Children, index: int) -> Child:
        """One of the children with its scores from the root; its log_weight is that of the draws, not of the node."""
        nodes = self._nodes
        prefix_log_prob = float(nodes.prefix_log_prob[node])
        log_prob, decoder_log_prob = float(nodes.log_prob[node]), float(nodes.decoder_log_prob[node])
        in_prefix = bool(children.in_prefix[index])
        if in_prefix:
            prefix_log_prob += float(children.log_probs[index])
        else:
            log_prob += float(children.log_probs[index])
            decoder_log_prob += float(children.decoder_log_probs[index])
        log_weight = float(nodes.log_weight[node]) + math.log(children.mass)
        return Child(int(children.tokens[index]), in_prefix, prefix_log_prob, log_prob, decoder_log_prob, log_weight)

    def _make_child(self, parent: int, child: Child, draws: int) -> int:
        made = self._tree.add(parent, child.token)
        self._nodes.reserve(self._tree.size)
        self._nodes.set_scores(made, child)
        self._nodes.state[made] = self._legal.state_after(parent, child.token)
        self._draws[made] = draws
        self._open_children[parent] = self._open_children.get(parent, 0) + 1
        return made

    def _end(self, node: int) -> None:
        """The draws at a node without a way on have ended: in a match, or nowhere."""
        if not self._legal.is_match(node):
            self._fail(node)
            return
        draws = self._draws[node]
        self.samples += draws
        weight = math.exp(float(self._nodes.log_weight[node]))
        self._ready.append(match_at(self._tree, self._nodes, node, weight, draws))
        self._close(node)

    def _fail(self, node: int) -> None:
        self.samples += self._draws[node]
        self.failed += self._draws[node]
        self._open_children.pop(node, None)
        self._close(node)

    def _kill(self, node: int) -> None:
        """The only child of a forced token that the rule cuts is dead, and so on down."""
        self._dead.discard(node)
        child = self._forced.pop(node, None)
        if child is not None:
            self._dead.add(child)
            del self._draws[child]

    def _close(self, node: int) -> None:
        """Let go of a node below which nothing is left to do, and of its ancestors in turn."""
        while not self._open_children.get(node, 0):
            self._closed.append(node)
            self._open_children.pop(node, None)
            del self._draws[node]
            if node == ROOT:
                return
            node = int(self._tree.parents[node])
            self._open_children[node] -= 1
