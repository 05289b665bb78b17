"""Which tokens are legal at a node, and whether the node is a match.

The automaton answers for its state. To that a search adds its own terms: no match is longer than allowed, a token
that the model does not score cannot be searched for, and where the query demands it the end-of-text token is one
more arc, out of every final state and into a match that nothing extends.
"""

from __future__ import annotations

import numpy as np

from engine.models.scoring import TokenTree
from engine.tokens.automaton import Arcs, TokenAutomaton
from engine.traversal.nodes import SearchNodes

#: The state of a node whose last token is end-of-text.
ENDED = -1


class LegalTokens:
    """The terms of one search, over the nodes of its tree.

    end_of_text: the token that must follow a match, or None. max_tokens: the longest sequence, that token not counted.
    vocabulary_size: token ids at and above it have no score.
    """

    def __init__(
        self,
        automaton: TokenAutomaton,
        tree: TokenTree,
        nodes: SearchNodes,
        *,
        end_of_text: int | None,
        max_tokens: int,
        vocabulary_size: int,
    ) -> None:
        self._automaton = automaton
        self._tree = tree
        self._nodes = nodes
        self._end_of_text = end_of_text
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
        if self._end_of_text is not None and self.may_end(node):
            position = int(np.searchsorted(tokens, self._end_of_text))
            tokens = np.insert(tokens, position, self._end_of_text)
            in_prefix = np.insert(in_prefix, position, False)
        return Arcs(tokens, in_prefix)

    def state_after(self, node: int, token: int) -> int:
        """The state of a child."""
        if token == self._end_of_text:
            return ENDED
        return self._automaton.step(int(self._nodes.state[node]), token)

    def may_end(self, node: int) -> bool:
        """Whether the tokens up to this node are a string of the language, encoded as the query wants it."""
        state = int(self._nodes.state[node])
        if state == ENDED or not self._automaton.is_final(state):
            return False
        return not self._automaton.needs_confirmation or self._automaton.confirm(self._tree.path(node))

    def is_match(self, node: int) -> bool:
        """Whether the node is a match: may end, and has ended where that is demanded."""
        if self._end_of_text is not None:
            return bool(self._nodes.state[node] == ENDED)
        return self.may_end(node)
