"""The token arcs of a byte automaton: vocabulary trie and automaton walked together.

A token that spells `cat` is an arc from state q to state r exactly when the byte automaton goes from q to r along
c, a, t. To find all arcs of a state, walk the vocabulary's trie and the automaton together:

    walk(node, state):  for each child of node:  next = transitions[state, byte of child]
                            if there is a next:  emit an arc for each token ending in child;  walk(child, next)

Two ways of doing that in whole arrays, chosen a state at a time (a state of `https://` allows one byte, a state inside
`[a-z]+` most of the trie):

    by pairs    a list of (state, node) pairs is extended level by level; costs what is visited
    by levels   one column of next states for the complete trie, a gather a level; the arcs come out sorted

The result is three arrays in CSR form: arcs first_arc[state] to first_arc[state + 1] - 1 of tokens and destinations,
ascending by token. The states are those of the byte automaton.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from relens.language.automaton import ByteAutomaton
from relens.tokens.ranges import expand
from relens.tokens.vocabulary import ROOT, FirstBytes, Trie

Integers = npt.NDArray[np.int32]

#: A state whose first two bytes lead to more than this share of the trie is walked by levels.
LEVELS_SHARE = 0.15
#: Cells (states x nodes) that the walk by levels holds at once: 4 bytes each.
LEVELS_CELLS = 4_000_000


class TokenArcs(NamedTuple):
    """Arcs of many states in CSR form, ascending by token within a state."""

    first_arc: npt.NDArray[np.int64]
    tokens: Integers
    destinations: Integers


def estimate_arcs(automaton: ByteAutomaton, trie: Trie) -> int:
    """An upper bound of the number of token arcs, from the first two bytes of each token alone."""
    return round(float(_within_reach(automaton.transitions, trie.tokens_by_first_bytes).sum(dtype=np.float64)))


def _within_reach(
    transitions: Integers, below: FirstBytes, rows: npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.float32]:
    """(states,) how much of the trie begins with two bytes, or is one byte, that each state allows.

    `rows`: the states, as rows of numbers of `transitions`; default all of them.
    """
    behind = within_reach_behind(transitions >= 0, below.pairs)
    ahead = transitions if rows is None else rows
    within = behind[ahead, np.arange(256)] + below.alone
    return np.asarray(np.where(ahead >= 0, within, 0).sum(axis=1))


def within_reach_behind(
    ways: npt.NDArray[np.bool_] | npt.NDArray[np.uint8], pairs: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """(states, 256) how much of the trie begins with each byte and then one that the state behind it reads.

    ways: (states, 256), in how many ways a state reads a byte. pairs: (256, 256), of the trie by its first two bytes.
    The result is a product of the two; bytes that no state tells apart are summed beforehand. `einsum` keeps to one
    thread, where waking a second takes longer.
    """
    columns = np.ascontiguousarray((np.packbits(ways, axis=0) if ways.dtype == np.bool_ else ways).T)
    _, example, kind = np.unique(
        columns.view(np.dtype((np.void, columns.shape[1]))).ravel(), return_index=True, return_inverse=True
    )
    order = np.argsort(kind, kind="stable")
    summed = np.add.reduceat(pairs[:, order], np.searchsorted(kind[order], np.arange(len(example))), axis=1)
    return np.asarray(np.einsum("rk,bk->rb", ways[:, example].astype(np.float32), summed))


def walk(transitions: Integers, trie: Trie, states: Integers | None = None) -> TokenArcs:
    """The token arcs of `states` (default: of all), numbered as in `transitions`; row i belongs to states[i]."""
    if states is None:
        states = np.arange(len(transitions), dtype=np.int32)
        reach = _within_reach(transitions, trie.nodes_by_first_bytes)
    else:  # a few states and those behind them, as a table of their own
        near, place = np.unique(transitions[states], return_inverse=True)
        ahead = np.where(transitions[states] >= 0, place.reshape(len(states), 256), -1)
        reach = _within_reach(transitions[near], trie.nodes_by_first_bytes, rows=ahead)
    by_levels = reach > LEVELS_SHARE * trie.nodes
    rows: list[npt.NDArray[np.int64]] = []
    tokens: list[Integers] = []
    destinations: list[Integers] = []

    few = np.flatnonzero(~by_levels)
    if len(few):
        row, token, destination = _walk_pairs(transitions, trie, states[few])
        rows.append(few[row])
        tokens.append(token)
        destinations.append(destination)
    many = np.flatnonzero(by_levels)
    chunk = max(1, LEVELS_CELLS // trie.nodes)
    for begin in range(0, len(many), chunk):
        part = many[begin : begin + chunk]
        row, token, destination = _walk_levels(transitions, trie, states[part])
        rows.append(part[row])
        tokens.append(token)
        destinations.append(destination)
    return _gather_rows(len(states), rows, tokens, destinations)


def _gather_rows(
    count: int, rows: list[npt.NDArray[np.int64]], tokens: list[Integers], destinations: list[Integers]
) -> TokenArcs:
    """CSR arrays from pieces that are each sorted by (row, token) and share no row."""
    row = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    first_arc = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=count), out=first_arc[1:])
    if len(rows) == 1:
        return TokenArcs(first_arc, tokens[0], destinations[0])
    token, destination = np.empty(len(row), np.int32), np.empty(len(row), np.int32)
    for piece_row, piece_token, piece_destination in zip(rows, tokens, destinations, strict=True):
        sizes = np.bincount(piece_row, minlength=count)
        _, target = expand(first_arc[:-1], sizes)
        token[target] = piece_token
        destination[target] = piece_destination
    return TokenArcs(first_arc, token, destination)


def _walk_pairs(
    transitions: Integers, trie: Trie, states: Integers
) -> tuple[npt.NDArray[np.int64], Integers, Integers]:
    """Sorted (row, token, destination), by extending (state, node) pairs one level at a time."""
    table = transitions.ravel()
    row = np.arange(len(states), dtype=np.int64)
    base = states.astype(np.int32) * np.int32(256)
    node = np.zeros(len(states), np.int32)
    parts: list[npt.NDArray[np.int64]] = []
    states_bits, token_bits = len(transitions).bit_length(), len(trie.node_of_token).bit_length()
    while len(row):
        low = trie.first_child[node]
        count = trie.first_child[node + 1] - low
        # `expand` in 32 bits: this is where a compilation spends its time.
        ends = np.cumsum(count)
        child = np.arange(ends[-1], dtype=np.int32) + np.repeat(low - (ends - count).astype(np.int32), count)
        destination = table[np.repeat(base, count) + trie.byte[child]]
        kept = np.flatnonzero(destination >= 0)
        row, node, state = np.repeat(row, count)[kept], child[kept], destination[kept]
        base = state * np.int32(256)
        first, last = trie.first_token[node], trie.first_token[node + 1]
        ending = np.flatnonzero(last > first)
        owner, index = expand(first[ending], (last - first)[ending])
        where = ending[owner]
        key = (row[where] << (states_bits + token_bits)) | (trie.node_tokens[index].astype(np.int64) << states_bits)
        parts.append(key | state[where])
    keys = np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.int64)
    token = ((keys >> states_bits) & ((1 << token_bits) - 1)).astype(np.int32)
    return keys >> (states_bits + token_bits), token, (keys & ((1 << states_bits) - 1)).astype(np.int32)


def _walk_levels(
    transitions: Integers, trie: Trie, states: Integers
) -> tuple[npt.NDArray[np.int64], Integers, Integers]:
    """Sorted (row, token, destination), from the next state at every node of the trie, dead ones included."""
    dead = len(transitions)
    table = np.full((dead + 1, 256), dead, np.int32)
    np.copyto(table[:-1], transitions, where=transitions >= 0)
    step = table.ravel() * np.int32(256)  # a state is kept as the start of its row: one addition finds the next one
    at = np.empty((len(states), trie.nodes), np.int32)
    at[:, ROOT] = states * 256
    reached = trie.nodes
    for low, high in zip(trie.level_start[1:-1], trie.level_start[2:], strict=True):
        np.take(step, at[:, trie.parent[low:high]] + trie.byte[low:high], out=at[:, low:high])
        if high - low < 2048 and (at[:, low:high] == dead * 256).all():
            reached = high
            break
    node = np.where(trie.node_of_token < reached, trie.node_of_token, -1)
    tokens = np.flatnonzero(node >= 0)
    destination = at[:, node[tokens]]
    row, column = np.nonzero(destination != dead * 256)
    return row, tokens[column].astype(np.int32), destination[row, column] >> 8
