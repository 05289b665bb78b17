"""Token arcs of canonical encodings: those that lie within one pre-token, and lead somewhere.

A token of a canonical encoding lies within one pre-token, so its arcs come from the walk of the vocabulary's trie in
which a boundary ends the token. For the language `I'm` with the pre-tokens I and 'm, the token I is an arc from the
start to the boundary after I; no token crosses that boundary, and `'m` starts behind it.

Not every such arc belongs to an encoding: `I'` `m` spells the string too. An arc is **useful** iff, after its token, a
canonical encoding can still be completed. That is a least fixpoint:

    (source, token, destination) is useful  iff  destination is final,
        or destination is a boundary with a useful arc,
        or some useful arc (destination, next, ...) has a `next` that may follow `token` (the pair test)

Keeping useful arcs only, there are no dead ends.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from relens.tokens.annotated import AnnotatedAutomaton, Follows
from relens.tokens.merges import PairTest
from relens.tokens.ranges import expand
from relens.tokens.trie_walk import TokenArcs, within_reach_behind
from relens.tokens.vocabulary import Trie

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]


#: States that are walked to see how many arcs there are where the first two bytes promise too many.
SAMPLED_STATES = 16


def estimate_arcs(annotated: AnnotatedAutomaton, trie: Trie, enough: int) -> int:
    """About how many token arcs there are, more closely where the first look finds more than `enough`.

    The first look counts the tokens whose first two bytes a state can read, which for open classes is right to a
    percent. With two edits anywhere nearly every state reads nearly any two bytes, but what follows them is a literal,
    so the arcs are a small part of that. Then a few states are walked, picked in proportion to what they promise.
    """
    alone, pairs = trie.tokens_by_first_bytes
    degree = np.diff(annotated.first)
    ways = np.minimum(degree, 255).astype(np.uint8).reshape(annotated.states, 256)
    behind = within_reach_behind(ways, pairs)
    behind[annotated.boundary] = 0  # the token ends there
    source, byte = np.divmod(np.repeat(np.arange(len(degree)), degree), 256)
    promised = np.bincount(source, alone[byte] + behind[annotated.after, byte], annotated.states)
    total = float(promised.sum())
    if total > enough:
        share = (np.arange(SAMPLED_STATES) + 0.5) / SAMPLED_STATES
        picked, times = np.unique(np.searchsorted(promised.cumsum(), share * total), return_counts=True)
        sizes = np.diff(walk_annotated(annotated, trie, picked).first_arc)
        total *= float((times * sizes / promised[picked]).sum()) / SAMPLED_STATES
    return round(total)


def walk_annotated(annotated: Follows, trie: Trie, starts: Integers) -> TokenArcs:
    """All (start, token, destination) with no boundary strictly inside the token, ascending by token.

    Row i of the result belongs to starts[i]; a token may lead to several destinations.
    """
    row = np.arange(len(starts))
    state, node = starts, np.zeros(len(starts), np.int64)
    token_bits, state_bits = len(trie.node_of_token).bit_length(), annotated.number_bound.bit_length()
    parts: list[Integers] = []
    while len(state):
        owner, child = expand(trie.first_child[node].astype(np.int64), np.diff(trie.first_child)[node])
        branch, state = annotated.follow(state[owner], trie.byte[child])
        row, node = row[owner[branch]], child[branch]
        first = trie.first_token[node].astype(np.int64)
        ending, index = expand(first, trie.first_token[node + 1] - first)
        arc = (row[ending] << (token_bits + state_bits)) | (trie.node_tokens[index].astype(np.int64) << state_bits)
        parts.append(arc | state[ending])
        inside = ~annotated.at_boundary(state)
        row, state, node = row[inside], state[inside], node[inside]
    keys = np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.int64)
    first_arc = np.searchsorted(keys >> (token_bits + state_bits), np.arange(len(starts) + 1))
    tokens = ((keys >> state_bits) & ((1 << token_bits) - 1)).astype(np.int32)
    return TokenArcs(first_arc, tokens, (keys & ((1 << state_bits) - 1)).astype(np.int32))


def select(arcs: TokenArcs, kept: Booleans) -> TokenArcs:
    """The arcs that are marked."""
    before = np.concatenate([[0], np.cumsum(kept)])
    return TokenArcs(before[arcs.first_arc], arcs.tokens[kept], arcs.destinations[kept])


def useful_arcs(annotated: AnnotatedAutomaton, arcs: TokenArcs, pairs: PairTest) -> TokenArcs:
    """The arcs after which a canonical encoding can be completed (the module's fixpoint).

    Each round looks only at arcs into states that won useful arcs in the round before. Whether a token has a successor
    among the useful arcs of its destination is decided by counting where it can be (more useful arcs than tokens that
    are refused after it), else by testing pairs, a few at first and then more.
    """
    source = np.repeat(np.arange(annotated.states), np.diff(arcs.first_arc))
    useful = annotated.final[arcs.destinations]
    into = np.argsort(arcs.destinations, kind="stable")
    first_into = np.searchsorted(arcs.destinations[into], np.arange(annotated.states + 1))
    refused = pairs.refused_counts[arcs.tokens]
    news = np.unique(source[useful])
    while len(news):
        _, position = expand(first_into[news], first_into[news + 1] - first_into[news])
        candidates = into[position]
        candidates = candidates[~useful[candidates]]
        # Parallel arcs with one token to several destinations are one successor.
        index = np.flatnonzero(useful)
        is_repeated = np.zeros(len(index), np.bool_)
        is_repeated[1:] = (source[index[1:]] == source[index[:-1]]) & (
            arcs.tokens[index[1:]] == arcs.tokens[index[:-1]]
        )
        index = index[~is_repeated]
        low = np.searchsorted(index, arcs.first_arc)
        count = np.diff(low)
        here = arcs.destinations[candidates]
        won = annotated.boundary[here] | (count[here] > refused[candidates])
        doubtful = np.flatnonzero(~won)
        state = here[doubtful]
        won[doubtful] = _has_successor(
            arcs.tokens[candidates[doubtful]], low[state], count[state], arcs.tokens[index], pairs
        )
        winners = candidates[won]
        useful[winners] = True
        news = np.unique(source[winners])
    return select(arcs, useful)


def _has_successor(
    tokens: npt.NDArray[np.int32],
    low: Integers,
    count: Integers,
    successors: npt.NDArray[np.int32],
    pairs: PairTest,
) -> Booleans:
    """(n,) whether some token of successors[low : low + count] may follow, tried in ever larger batches."""
    may_follow = np.zeros(len(tokens), np.bool_)
    todo = np.arange(len(tokens))
    tried = np.zeros(len(tokens), np.int64)
    batch = 2
    while len(todo):
        size = np.minimum(count[todo] - tried[todo], batch)
        owner, position = expand(low[todo] + tried[todo], size)
        allowed = pairs.allowed_pairs(tokens[todo[owner]].astype(np.int64), successors[position].astype(np.int64))
        may_follow[todo[owner[allowed]]] = True
        tried[todo] += size
        todo = todo[~may_follow[todo] & (tried[todo] < count[todo])]
        batch *= 4
    return may_follow
