"""Canonical encodings: exactly the sequences that the tokenizer itself produces, for finite and infinite languages.

For `cats?` and GPT-2 there are two, `cat` and `c` `ats`, though `cats` could be spelled in ten ways. The automaton is
put together from the rooms next door and explored as a search reaches its states:

    annotated     language x UTF-8 x pre-tokenizer: where pre-tokens may end
    merges        which token may follow which inside a pre-token
    useful_arcs   the token arcs between annotated states after which an encoding can be completed

    state of a walk:  the annotated states it may be in, and its last token
    legal tokens:     the arcs of those states; where a state is inside a pre-token, without the tokens that the
                      pair test refuses after the last one

The annotated automaton guesses where pre-tokens end, so a walk may be in several of its states at once: that set, and
the last token, make the walk deterministic. The last token is forgotten on a boundary. The automaton is never written
out in full, since `[a-z]+` alone has 15,000 (state, last token) pairs with 13,000 arcs each.

Where a language is too large even to annotate, the product is explored as well. What is accepted stays exact; only
dead ends can then no longer be removed ahead.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from relens.errors import NoEncodingError
from relens.language.automaton import ByteAutomaton
from relens.query import Limits
from relens.tokens.annotated import (
    AnnotatedAutomaton,
    LazyAnnotatedAutomaton,
    annotate,
)
from relens.tokens.automaton import Arcs, TokenAutomaton
from relens.tokens.byte_level import ByteLevelTables, byte_level_tables, may_change, may_contain
from relens.tokens.canonical_by_retokenizing import ReencodedAutomaton, pruned
from relens.tokens.encodings import all_encodings
from relens.tokens.enumerated import enumerated_encodings
from relens.tokens.text_start import with_dropped_space
from relens.tokens.tokenizer import Tokenizer
from relens.tokens.trie_walk import TokenArcs
from relens.tokens.useful_arcs import estimate_arcs, select, useful_arcs, walk_annotated
from relens.tokens.vocabulary import Trie
from relens.tokens.whole_pretokens import BEGINNING, OFF

#: Annotated states and token arcs that are worth working out before a search begins: about a second.
MOST_STATES = 50_000
MOST_ARCS = 8_000_000
#: States whose arcs are remembered; an open class has tens of thousands of arcs a state.
REMEMBERED_STATES = 2048

NO_TOKEN = -1
NO_ENCODING = "No string of this language has a canonical encoding in this vocabulary."


class Row(NamedTuple):
    """The token arcs of one annotated state, ascending by token; a token may occur several times."""

    tokens: npt.NDArray[np.int32]
    destinations: npt.NDArray[np.int32]
    in_prefix: npt.NDArray[np.bool_]

    def take(self, positions: npt.NDArray[np.int64]) -> Row:
        """The arcs at these positions, in this order."""
        return Row(self.tokens[positions], self.destinations[positions], self.in_prefix[positions])


class Rows(Protocol):
    """Annotated states with their token arcs, worked out ahead or on demand. is_trimmed: without dead ends."""

    is_trimmed: bool

    def row(self, state: int) -> Row:
        """The token arcs of a state."""

    def is_boundary(self, state: int) -> bool:
        """Whether a pre-token ends at the state."""

    def is_final(self, state: int) -> bool:
        """Whether the text may end at the state."""


class KnownRows:
    """Every row in memory, without dead ends."""

    is_trimmed = True

    def __init__(self, annotated: AnnotatedAutomaton, arcs: TokenArcs) -> None:
        self._annotated = annotated
        self._arcs = arcs
        self._in_prefix = annotated.in_prefix[arcs.destinations]

    def row(self, state: int) -> Row:
        """The token arcs of a state."""
        part = slice(self._arcs.first_arc[state], self._arcs.first_arc[state + 1])
        return Row(self._arcs.tokens[part], self._arcs.destinations[part], self._in_prefix[part])

    def is_boundary(self, state: int) -> bool:
        """Whether a pre-token ends at the state."""
        return bool(self._annotated.boundary[state])

    def is_final(self, state: int) -> bool:
        """Whether the text may end at the state."""
        return bool(self._annotated.final[state])


class LazyRows:
    """Rows made on demand, by walking the trie from a state; the last ones are remembered."""

    is_trimmed = False

    def __init__(self, annotated: LazyAnnotatedAutomaton, trie: Trie, tables: ByteLevelTables) -> None:
        self._annotated = annotated
        self._trie = trie
        self._tables = tables
        self._rows: dict[int, Row] = {}
        self._boundary: dict[int, bool] = {}

    def row(self, state: int) -> Row:
        """The token arcs of a state."""
        row = self._rows.get(state)
        if row is None:
            annotated = self._annotated
            arcs = walk_annotated(annotated, self._trie, np.array([state]))
            target = arcs.destinations.astype(np.int64)
            kept = _well_formed(
                arcs.tokens,
                annotated.at_boundary(np.full(len(target), state)),
                annotated.at_boundary(target),
                self._tables,
            )
            different, where = np.unique(target, return_inverse=True)
            kept &= annotated.can_go_on(different)[where]
            row = Row(arcs.tokens[kept], arcs.destinations[kept], annotated.in_prefix(target[kept]))
            if len(self._rows) >= REMEMBERED_STATES:
                self._rows.pop(next(iter(self._rows)))
            self._rows[state] = row
        return row

    def is_boundary(self, state: int) -> bool:
        """Whether a pre-token ends at the state."""
        known = self._boundary.get(state)
        if known is None:
            known = self._boundary[state] = bool(self._annotated.at_boundary(np.array([state]))[0])
        return known

    def is_final(self, state: int) -> bool:
        """Whether the text may end at the state."""
        return bool(self._annotated.at_end(np.array([state]))[0])


def _well_formed(
    tokens: npt.NDArray[np.int32],
    from_boundary: npt.NDArray[np.bool_],
    to_boundary: npt.NDArray[np.bool_],
    tables: ByteLevelTables,
) -> npt.NDArray[np.bool_]:
    """(n,) which arcs have a token that can be part of an encoding: BPE makes it, or it is a whole pre-token."""
    kept = tables.pairs.is_canonical[tokens]
    return kept | (from_boundary & to_boundary) if tables.whole.allows_any_token else kept


class Merged(NamedTuple):
    """The token arcs of several annotated states together, each token once, ascending.

    is_free: whether a token is legal whatever token came before, because it begins a pre-token.
    """

    tokens: npt.NDArray[np.int32]
    in_prefix: npt.NDArray[np.bool_]
    is_free: npt.NDArray[np.bool_]
    all_free: bool


#: An annotated state, and its place among the wrong sequences of `ignore_merges` (OFF where that rule is idle).
Member = tuple[int, int]


class CanonicalAutomaton(TokenAutomaton):
    """The lazy deterministic automaton of the module's description."""

    def __init__(self, rows: Rows, tables: ByteLevelTables, start: int = 0) -> None:
        self._rows = rows
        self.may_have_dead_ends = not rows.is_trimmed
        self._pairs = tables.pairs
        self._whole = tables.whole
        self._states: list[tuple[tuple[Member, ...], int]] = []
        self._numbers: dict[tuple[tuple[Member, ...], int], int] = {}
        self._arcs: dict[int, Arcs] = {}
        self._merged: dict[tuple[Member, ...], Merged] = {}
        self._completes: dict[tuple[Member, int], bool] = {}
        self.start = self._number(((start, OFF),), NO_TOKEN)

    def _number(self, members: tuple[Member, ...], last: int) -> int:
        key = (members, last)
        state = self._numbers.get(key)
        if state is None:
            state = self._numbers[key] = len(self._states)
            self._states.append(key)
        return state

    def arcs(self, state: int) -> Arcs:
        """The tokens that are legal from `state`."""
        arcs = self._arcs.get(state)
        if arcs is None:
            arcs = self._legal_arcs(*self._states[state])
            if len(self._arcs) >= REMEMBERED_STATES:
                self._arcs.pop(next(iter(self._arcs)))
            self._arcs[state] = arcs
        return arcs

    def _legal_arcs(self, members: tuple[Member, ...], last: int) -> Arcs:
        """The merged arcs of the members, which many states share, filtered by the last token."""
        if self._whole.is_active:
            tokens, _, in_prefix = self._legal(members, last)
            is_first = _is_first(tokens)
            return Arcs(tokens[is_first], in_prefix[is_first])
        merged = self._merge(members)
        if merged.all_free:
            return Arcs(merged.tokens, merged.in_prefix)
        allowed = self._pairs.allowed_after(last, merged.tokens) | merged.is_free
        return Arcs(merged.tokens[allowed], merged.in_prefix[allowed])

    def _merge(self, members: tuple[Member, ...]) -> Merged:
        merged = self._merged.get(members)
        if merged is None:
            rows = [self._rows.row(annotated_state) for annotated_state, _ in members]
            sizes = [len(row.tokens) for row in rows]
            is_free = np.repeat([self._rows.is_boundary(annotated_state) for annotated_state, _ in members], sizes)
            tokens = np.concatenate([row.tokens for row in rows])
            # A token is free where one of its arcs is, so that one comes first.
            order = np.lexsort((~is_free, tokens))
            first = order[_is_first(tokens[order])]
            in_prefix = np.concatenate([row.in_prefix for row in rows])[first]
            merged = Merged(tokens[first], in_prefix, is_free[first], bool(is_free[first].all()))
            if len(self._merged) >= REMEMBERED_STATES:
                self._merged.pop(next(iter(self._merged)))
            self._merged[members] = merged
        return merged

    def _legal(self, members: tuple[Member, ...], last: int) -> Row:
        """The legal arcs of all members of a state, ascending by token."""
        rows = [self._legal_for(member, last) for member in members]
        if len(rows) == 1:
            return rows[0]
        tokens, destinations, in_prefix = (np.concatenate(column) for column in zip(*rows, strict=True))
        return Row(tokens, destinations, in_prefix).take(np.argsort(tokens, kind="stable"))

    def _legal_for(self, member: Member, last: int) -> Row:
        """The legal arcs of one member."""
        annotated_state, place = member
        row = self._rows.row(annotated_state)
        is_boundary = self._rows.is_boundary(annotated_state)
        if is_boundary and not self._whole.is_active:
            return row
        allowed = np.ones(len(row.tokens), np.bool_) if is_boundary else self._pairs.allowed_after(last, row.tokens)
        watched = self._whole.tokens(BEGINNING if is_boundary else place)
        for index in np.flatnonzero(np.isin(row.tokens, watched) & allowed) if len(watched) else ():
            token, destination = int(row.tokens[index]), int(row.destinations[index])
            allowed[index] = self._member_after(member, token, destination) is not None
        return row.take(np.flatnonzero(allowed))

    def _member_after(self, member: Member, token: int, destination: int) -> Member | None:
        """The member that an arc leads to, or None where it can only complete a wrong sequence."""
        if not self._whole.is_active:
            return (destination, OFF)
        place = BEGINNING if self._rows.is_boundary(member[0]) else member[1]
        place = self._whole.after(place, token)
        if self._rows.is_boundary(destination):
            return None if self._whole.is_wrong(place) else (destination, OFF)
        after = (destination, place)
        return after if place == OFF or self._can_complete(after, token) else None

    def _can_complete(self, member: Member, last: int) -> bool:
        """Whether a pre-token that began a wrong sequence can still become another one; the trie is finite."""
        key = (member, last)
        known = self._completes.get(key)
        if known is None:
            row = self._rows.row(member[0])
            allowed = self._pairs.allowed_after(last, row.tokens)
            watched = np.isin(row.tokens, self._whole.tokens(member[1]))
            known = bool((allowed & ~watched).any()) or any(
                self._member_after(member, int(row.tokens[index]), int(row.destinations[index])) is not None
                for index in np.flatnonzero(allowed & watched)
            )
            self._completes[key] = known
        return known

    def step(self, state: int, token: int) -> int:
        """The state after `token`, or -1."""
        members, last = self._states[state]
        after: set[Member] = set()
        token_id = np.int32(token)  # the type of the arrays: a search that converts them costs more than the search
        for member in members:
            row = self._rows.row(member[0])
            low, high = row.tokens.searchsorted(token_id), row.tokens.searchsorted(token_id, side="right")
            if low == high or not (self._rows.is_boundary(member[0]) or self._pairs.allows(last, token)):
                continue
            reached = (self._member_after(member, token, target) for target in row.destinations[low:high].tolist())
            after.update(item for item in reached if item is not None)
        return self._after(after, token) if after else -1

    def _after(self, members: set[Member], token: int) -> int:
        is_between = all(self._rows.is_boundary(annotated_state) for annotated_state, _ in members)
        return self._number(tuple(sorted(members)), NO_TOKEN if is_between else token)

    def destinations(self, state: int, at_least: int | None = None) -> npt.NDArray[np.int64]:
        """The states that the tokens of `arcs(state)` lead to, in the same order; at least the first `at_least`."""
        if self._whole.is_active:
            return super().destinations(state, at_least)
        tokens = self.arcs(state).tokens[:at_least]
        members: dict[int, set[Member]] = {token: set() for token in tokens.tolist()}
        row = self._legal(*self._states[state])
        count = int(row.tokens.searchsorted(tokens[-1], side="right")) if len(tokens) else 0
        for token, target in zip(row.tokens[:count].tolist(), row.destinations[:count].tolist(), strict=True):
            members[token].add((target, OFF))
        return np.array([self._after(targets, token) for token, targets in members.items()], np.int64)

    def is_final(self, state: int) -> bool:
        """Whether the tokens so far are the canonical encoding of a string of the language."""
        return any(self._rows.is_final(member[0]) for member in self._states[state][0])


def _is_first(tokens: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """(n,) of tokens ascending, where each comes first."""
    is_first = np.ones(len(tokens), np.bool_)
    is_first[1:] = tokens[1:] != tokens[:-1]
    return is_first


def canonical_encodings(
    automaton: ByteAutomaton, tokenizer: Tokenizer, limits: Limits, continues: bool = False
) -> TokenAutomaton:
    """The canonical encodings of a language (ReLM section 3.2), by the exact construction where that is possible.

    For tokenizers it does not cover, and where an added token or a normalizer may interfere with the strings of this
    language, small languages are encoded string by string, and for large ones the result `needs_confirmation`. Raises
    `NoEncodingError` when no string has a canonical encoding, and the `LimitError` of `all_encodings`.
    """
    tables = byte_level_tables(tokenizer)
    is_interfered = any(may_contain(automaton, text) for text in tokenizer.text_tokens.values())
    if tables is not None and not is_interfered and not may_change(tables, automaton):
        return CanonicalAutomaton(_rows(automaton, tokenizer.vocabulary.trie, tables, limits), tables)
    spelled = with_dropped_space(automaton) if tokenizer.drops_first_space and not continues else automaton
    enumerated = enumerated_encodings(automaton, spelled, tokenizer, continues)
    if enumerated is not None:
        if enumerated.is_empty:
            raise NoEncodingError(NO_ENCODING)
        return enumerated
    if tables is not None and not is_interfered:
        exact = CanonicalAutomaton(_rows(automaton, tokenizer.vocabulary.trie, tables, limits), tables)
        return ReencodedAutomaton(exact, tokenizer, continues)
    walked = all_encodings(spelled, tokenizer.vocabulary, limits.token_arcs)
    return ReencodedAutomaton(pruned(walked, tokenizer), tokenizer, continues)


def _rows(automaton: ByteAutomaton, trie: Trie, tables: ByteLevelTables, limits: Limits) -> Rows:
    annotated = annotate(automaton, tables.boundaries, MOST_STATES)
    most_arcs = min(MOST_ARCS, limits.token_arcs)
    if annotated is None or estimate_arcs(annotated, trie, most_arcs) > most_arcs:
        return LazyRows(LazyAnnotatedAutomaton(automaton, tables.boundaries), trie, tables)
    if annotated.states:
        arcs = walk_annotated(annotated, trie, np.arange(annotated.states))
        source = np.repeat(np.arange(annotated.states), np.diff(arcs.first_arc))
        boundary = annotated.boundary
        arcs = select(arcs, _well_formed(arcs.tokens, boundary[source], boundary[arcs.destinations], tables))
        arcs = useful_arcs(annotated, arcs, tables.pairs)
        if annotated.final[0] or arcs.first_arc[1] > 0:
            return KnownRows(annotated, arcs)
    raise NoEncodingError(NO_ENCODING)
