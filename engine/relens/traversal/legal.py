"""Which tokens are legal at a node, and whether the node is a match.

The automaton answers for its state. To that a search adds its own terms: no match is longer than allowed, a token
that the model does not score cannot be searched for, and the end-of-text token may be one more arc, into a match that
nothing extends:

    never       ` cat` and ` cats` are both matches, though one begins the other
    demanded    out of every final state: only ` cat<end>` and ` cats<end>` are matches
    settling    out of a final state that also goes on: ` cat<end>` and ` cats` are matches, and exclude each other
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from relens.errors import ModelError
from relens.models.scoring import TokenTree
from relens.tokens.automaton import Arcs, TokenAutomaton
from relens.traversal.nodes import SearchNodes

#: The state of a node whose last token is end-of-text.
ENDED = -1


@dataclass(frozen=True)
class Ending:
    """Where the end-of-text token is legal; token: its id, None for a model that has none."""

    when: Literal["never", "demanded", "settling"] = "never"
    token: int | None = None


class LegalTokens:
    """The terms of one search, over the nodes of its tree.

    max_tokens: the longest sequence, an end-of-text token not counted. vocabulary_size: token ids at and above it have
    no score.
    """

    def __init__(
        self,
        automaton: TokenAutomaton,
        tree: TokenTree,
        nodes: SearchNodes,
        *,
        ending: Ending,
        max_tokens: int,
        vocabulary_size: int,
    ) -> None:
        self._automaton = automaton
        self._tree = tree
        self._nodes = nodes
        self._ending = ending
        self._max_tokens = max_tokens
        self._vocabulary_size = vocabulary_size
        self._none = Arcs(np.empty(0, np.int32), np.empty(0, np.bool_))

    def arcs(self, node: int) -> Arcs:
        """The legal tokens of a node, ascending, and which of them are prefix arcs."""
        state = int(self._nodes.state[node])
        if state == ENDED:
            return self._none
        tokens, in_prefix = self._none
        if self._tree.depths[node] < self._max_tokens:
            tokens, in_prefix = self._automaton.arcs(state)
            if len(tokens) and tokens[-1] >= self._vocabulary_size:
                scored = int(np.searchsorted(tokens, self._vocabulary_size))
                tokens, in_prefix = tokens[:scored], in_prefix[:scored]
        if self._can_end(node, goes_on=len(tokens) > 0):
            end = self._end_of_text()
            position = int(np.searchsorted(tokens, end))
            tokens = np.insert(tokens, position, end)
            in_prefix = np.insert(in_prefix, position, False)
        return Arcs(tokens, in_prefix)

    def _can_end(self, node: int, goes_on: bool) -> bool:
        """Whether end-of-text is an arc of a node, which has others or not."""
        when = self._ending.when
        return (when == "demanded" or (when == "settling" and goes_on)) and self.may_end(node)

    def _end_of_text(self) -> int:
        if self._ending.token is None:
            raise ModelError(
                "Some strings of this query begin others, and which of them a text is only its end can settle: this"
                " model has no end-of-text token."
            )
        return self._ending.token

    def state_after(self, node: int, token: int) -> int:
        """The state of a child."""
        if token == self._ending.token and self._ending.when != "never":
            return ENDED
        return self._automaton.step(int(self._nodes.state[node]), token)

    def may_end(self, node: int) -> bool:
        """Whether the tokens up to this node are a string of the language, encoded as the query wants it."""
        state = int(self._nodes.state[node])
        if state == ENDED or not self._automaton.is_final(state):
            return False
        return not self._automaton.needs_confirmation or self._automaton.confirm(self._tree.path(node))

    def is_match(self, node: int) -> bool:
        """Whether the node is a match: it may end, and has ended where end-of-text is an arc."""
        if self._nodes.state[node] == ENDED:
            return True
        when = self._ending.when
        if when == "demanded" or not self.may_end(node):
            return False
        return when == "never" or not len(self.arcs(node).tokens)
