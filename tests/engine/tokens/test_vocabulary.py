"""The trie against the plain set of prefixes."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from relens.tokens.vocabulary import ROOT, Trie, Vocabulary

spellings = st.lists(st.none() | st.binary(max_size=4) | st.sampled_from([b"cat", b"ca", b"c", b"at"]), max_size=30)


def spelled_nodes(trie: Trie) -> list[bytes]:
    """What each node spells, from the children's side."""
    spelled = [b""] * trie.nodes
    for node in range(trie.nodes):
        for child in range(int(trie.first_child[node]), int(trie.first_child[node + 1])):
            assert trie.parent[child] == node
            spelled[child] = spelled[node] + bytes([trie.byte[child]])
    return spelled


@given(spellings)
def test_trie_holds_every_prefix_once_and_every_token(items: list[bytes | None]) -> None:
    trie = Vocabulary(items).trie
    spelled = spelled_nodes(trie)
    assert len(set(spelled)) == trie.nodes
    assert set(spelled) == {b""} | {item[:end] for item in items if item for end in range(len(item) + 1)}
    for token, item in enumerate(items):
        node = int(trie.node_of_token[token])
        assert node == -1 if not item else spelled[node] == item
    for node in range(trie.nodes):
        here = trie.node_tokens[trie.first_token[node] : trie.first_token[node + 1]].tolist()
        assert here == [token for token, item in enumerate(items) if item and item == spelled[node]]


@given(spellings)
def test_sums_over_subtrees(items: list[bytes | None]) -> None:
    trie = Vocabulary(items).trie
    spelled = spelled_nodes(trie)
    for node in range(trie.nodes):
        assert trie.nodes_below[node] == sum(other.startswith(spelled[node]) for other in spelled)
        assert trie.tokens_below[node] == sum(bool(item) and item.startswith(spelled[node]) for item in items)
    assert trie.nodes_below[ROOT] == trie.nodes


@given(spellings)
def test_sums_by_first_bytes(items: list[bytes | None]) -> None:
    trie = Vocabulary(items).trie
    alone, pairs = trie.tokens_by_first_bytes
    for first in range(256):
        assert alone[first] == sum(item == bytes([first]) for item in items)
    expected = Counter(item[:2] for item in items if item and len(item) > 1)
    assert {bytes([int(a), int(b)]): pairs[a, b] for a, b in np.argwhere(pairs)} == expected


def test_single_bytes_and_longest() -> None:
    vocabulary = Vocabulary([b"a", None, b"bc", b"a", b""])
    assert vocabulary.single_bytes.nonzero()[0].tolist() == [ord("a")]
    assert vocabulary.longest == 2
    assert vocabulary[4] is None
    assert len(vocabulary) == 5
