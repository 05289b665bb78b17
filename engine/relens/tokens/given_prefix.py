"""A query with its prefix fixed to one string, as samples and distributions search it.

For the prefix `The (man|woman)` and the pattern ` was`, given the string `The man`:

    TOKEN boundary    the encodings of `The man`, then the token automaton of the pattern, made once and shared by all
                      prefix strings
    FREE boundary     the automaton of the whole, restricted to texts that begin with `The man`

With a TOKEN boundary and edits the string may belong to the prefixes of several ways to divide; it then goes on with
the pattern of the first, which contains the others (`query_automaton`).

**Restricted** is the automaton of the whole as long as the tokens lie within the given string, may straddle its end,
and is the whole itself beyond it. With `The man` given and the tokens T, The, ␣m, an and `an was`:

    The ␣m an             at the end of the string, on with the whole
    The ␣m `an was`       beyond the end
    The ␣m an is legal    only if the whole has it: a canonical encoding of the whole may need `an was` there

So a token may agree with the string and lead nowhere, if the whole can only go on with another string. Within the
given string there are few (bytes read, state of the whole) pairs, and bytes only grow: whether a pair leads to the end
is found depth first and remembered. Beyond the string the whole has no dead ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from relens.errors import NoEncodingError
from relens.query import Encoding, Limits
from relens.tokens.automaton import Arcs, TokenAutomaton
from relens.tokens.encoded import text_encodings
from relens.tokens.query_automaton import EncodedWay, QueryAutomaton
from relens.tokens.tokenizer import Tokenizer
from relens.tokens.vocabulary import ROOT, Trie

SPACE = 0x20
#: States whose arcs are remembered; an open class has tens of thousands of arcs a state.
REMEMBERED_STATES = 1024


def given_at_boundary(
    text: str, pattern: TokenAutomaton, tokenizer: Tokenizer, encoding: Encoding, limits: Limits
) -> TokenAutomaton:
    """The encodings of `text`, by itself, followed by what `pattern` accepts; a token boundary between them.

    Raises `NoEncodingError` where the text cannot be spelled.
    """
    return QueryAutomaton([EncodedWay(text_encodings(text, tokenizer, encoding, limits), pattern)])


def given_in_whole(text: str, whole: TokenAutomaton, tokenizer: Tokenizer) -> TokenAutomaton:
    """What `whole` accepts of texts that begin with `text`.

    An arc is a prefix arc iff it stays within `text`, whatever other prefixes there are. Raises `NoEncodingError` where
    there is no such sequence of tokens.
    """
    restricted = RestrictedAutomaton(text.encode(), whole, tokenizer)
    if not restricted.can_begin:
        raise NoEncodingError(f"No text that begins with {text!r} has an encoding in this vocabulary.")
    return restricted


class Agreeing(NamedTuple):
    """The tokens that agree with what is left of a string.

    within: token -> how many bytes are read after it, for those that end in the string. beyond: those that begin with
    all that is left and go on, ascending, int32.
    """

    within: dict[int, int]
    beyond: npt.NDArray[np.int32]


#: Bytes of the string that are read, and the state of the whole.
Place = tuple[int, int]


class RestrictedAutomaton(TokenAutomaton):
    """The automaton of the module's description. State 2q is state q of the whole, beyond the string or at its end;
    odd states are places within it.
    """

    def __init__(self, data: bytes, whole: TokenAutomaton, tokenizer: Tokenizer) -> None:
        self.needs_confirmation = whole.needs_confirmation
        self.may_have_dead_ends = whole.may_have_dead_ends
        self._whole = whole
        self._trie = tokenizer.vocabulary.trie
        # Tokens that begin with the space that is dropped spell one more byte than the text has.
        self._drops_space = tokenizer.drops_first_space
        self._data = b" " + data if self._drops_space else data
        self._agreeing: dict[int, Agreeing] = {}
        self._steps: dict[Place, dict[int, Place]] = {}
        self._beyond_of: dict[Place, npt.NDArray[np.int32]] = {}
        self._arrives: dict[Place, bool] = {}
        self._arcs: dict[int, Arcs] = {}
        self._places: list[Place] = []
        self._numbers: dict[Place, int] = {}
        self.start = self._number((0, whole.start)) if data else 2 * whole.start

    @property
    def can_begin(self) -> bool:
        """Whether there is any way through the given string."""
        return self.start % 2 == 0 or self._can_arrive(self._places[0])

    def _number(self, place: Place) -> int:
        if place[0] >= len(self._data):
            return 2 * place[1]
        state = self._numbers.get(place)
        if state is None:
            state = self._numbers[place] = 2 * len(self._places) + 1
            self._places.append(place)
        return state

    def arcs(self, state: int) -> Arcs:
        """The tokens that are legal from `state`."""
        arcs = self._arcs.get(state)
        if arcs is None:
            if state % 2 == 0:
                whole_arcs = self._whole.arcs(state // 2)
                # Beyond the string nothing is given, though the arc may belong to a longer prefix.
                if not whole_arcs.in_prefix.any():
                    return whole_arcs
                arcs = Arcs(whole_arcs.tokens, np.zeros_like(whole_arcs.in_prefix))
            else:
                arcs = self._arcs_within(self._places[state // 2])
            if len(self._arcs) >= REMEMBERED_STATES:
                self._arcs.pop(next(iter(self._arcs)))
            self._arcs[state] = arcs
        return arcs

    def _arcs_within(self, place: Place) -> Arcs:
        within = [token for token, after in self._steps_within(place).items() if self._can_arrive(after)]
        tokens = np.concatenate([np.array(within, np.int32), self._beyond(place)])
        order = np.argsort(tokens)
        return Arcs(tokens[order], (np.arange(len(tokens)) < len(within))[order])

    def step(self, state: int, token: int) -> int:
        """The state after `token`, or -1."""
        if state % 2 == 0:
            after = self._whole.step(state // 2, token)
            return after if after < 0 else 2 * after
        place = self._places[state // 2]
        within = self._steps_within(place).get(token)
        if within is not None:
            return self._number(within) if self._can_arrive(within) else -1
        beyond = self._agreeing_at(place[0]).beyond
        index = int(beyond.searchsorted(np.int32(token)))
        if index == len(beyond) or beyond[index] != token:
            return -1
        after = self._whole.step(place[1], token)
        return after if after < 0 else 2 * after

    def destinations(self, state: int, at_least: int | None = None) -> npt.NDArray[np.int64]:
        """The states that the tokens of `arcs(state)` lead to, in the same order."""
        if state % 2 == 0:
            return 2 * self._whole.destinations(state // 2, at_least)
        return super().destinations(state, at_least)

    def is_final(self, state: int) -> bool:
        """Whether the tokens so far spell a string of the whole that begins with the given one."""
        return state % 2 == 0 and self._whole.is_final(state // 2)

    def confirm(self, token_ids: Sequence[int]) -> bool:
        """Whether the whole confirms the sequence."""
        return self._whole.confirm(token_ids)

    def _steps_within(self, place: Place) -> dict[int, Place]:
        """Where the legal tokens that end in the string lead to, dead ends included."""
        steps = self._steps.get(place)
        if steps is None:
            read, state = place
            steps = {}
            for token, end in self._agreeing_at(read).within.items():
                after = self._whole.step(state, token)
                if after >= 0:
                    steps[token] = (end, after)
            self._steps[place] = steps
        return steps

    def _beyond(self, place: Place) -> npt.NDArray[np.int32]:
        """The legal tokens that begin with all that is left of the string and go on."""
        tokens = self._beyond_of.get(place)
        if tokens is None:
            tokens = self._agreeing_at(place[0]).beyond
            if len(tokens):
                tokens = np.intersect1d(tokens, self._whole.arcs(place[1]).tokens, assume_unique=True)
            self._beyond_of[place] = tokens
        return tokens

    def _can_arrive(self, place: Place) -> bool:
        """Whether some legal tokens lead from a place to the end of the string or beyond; each place is judged once."""
        stack = [place]
        while stack:
            here = stack[-1]
            if here[0] >= len(self._data):
                self._arrives[here] = True
            if here in self._arrives:
                stack.pop()
                continue
            # The longest token first: with all encodings it is never wrong.
            nearest = sorted(set(self._steps_within(here).values()), reverse=True)
            unknown = next((after for after in nearest if after not in self._arrives), None)
            if len(self._beyond(here)) or any(self._arrives.get(after) for after in nearest):
                self._arrives[here] = True
            elif unknown is None:
                self._arrives[here] = False
            else:
                stack.append(unknown)
        return self._arrives[place]

    def _agreeing_at(self, read: int) -> Agreeing:
        """The tokens that agree with the string from byte `read` on."""
        agreement = self._agreeing.get(read)
        if agreement is None:
            agreement = agreeing(self._trie, self._data[read:])
            agreement = Agreeing({token: read + length for token, length in agreement.within.items()}, agreement.beyond)
            if self._drops_space and read == 0 and self._data[1] != SPACE:
                # Or the text begins without the space that would be dropped.
                bare = agreeing(self._trie, self._data[1:])
                within = agreement.within | {token: 1 + length for token, length in bare.within.items()}
                agreement = Agreeing(within, np.union1d(agreement.beyond, bare.beyond))
            self._agreeing[read] = agreement
        return agreement


def agreeing(trie: Trie, data: bytes) -> Agreeing:
    """The tokens that are a beginning of `data`, with their lengths, and those that `data` is a beginning of."""
    within: dict[int, int] = {}
    node = ROOT
    for length, byte in enumerate(data, 1):
        low, high = int(trie.first_child[node]), int(trie.first_child[node + 1])
        node = low + int(trie.byte[low:high].searchsorted(np.uint8(byte)))
        if node == high or trie.byte[node] != byte:
            return Agreeing(within, np.zeros(0, np.int32))
        for token in trie.node_tokens[trie.first_token[node] : trie.first_token[node + 1]].tolist():
            within[token] = length
    # The nodes below one are neighbours level by level.
    levels = []
    low, high = int(trie.first_child[node]), int(trie.first_child[node + 1])
    while low < high:
        levels.append(trie.node_tokens[trie.first_token[low] : trie.first_token[high]])
        low, high = int(trie.first_child[low]), int(trie.first_child[high])
    return Agreeing(within, np.sort(np.concatenate(levels)) if levels else np.zeros(0, np.int32))
