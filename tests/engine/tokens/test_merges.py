"""The pair test against byte-pair encoding itself, on orderly and on odd lists of merges."""

from __future__ import annotations

import itertools
import random

import numpy as np
import tokenizers
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import models

from relens.tokens.merges import PairTest
from relens.tokens.tokenizer import Tokenizer
from tests.engine.tokens.helpers import segmentations

Merges = list[tuple[str, str]]


@st.composite
def merge_lists(draw: st.DrawFn) -> tuple[list[str], Merges]:
    """Tokens over a few letters, and merges: as trained, shuffled, or every split of every token."""
    letters = draw(st.sampled_from(["ab", "abc"]))
    tokens, merges = list(letters), []
    for _ in range(draw(st.integers(1, 9))):
        pair = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
        product = pair[0] + pair[1]
        if len(product) > 6 or pair in merges:
            continue
        merges.append(pair)
        if product not in tokens:
            tokens.append(product)
    kind = draw(st.sampled_from(["trained", "shuffled", "all splits", "repeated"]))
    if kind == "shuffled":
        merges = draw(st.permutations(merges))
    elif kind == "all splits":
        merges = [
            (token[:cut], token[cut:])
            for token in tokens
            for cut in range(1, len(token))
            if token[:cut] in tokens and token[cut:] in tokens
        ]
    elif kind == "repeated" and merges:
        merges = [*merges, draw(st.sampled_from(merges))]
    return tokens, merges


def pair_test(tokens: list[str], merges: Merges) -> PairTest:
    number = {token: index for index, token in enumerate(tokens)}
    return PairTest([token.encode() for token in tokens], [(number[a], number[b], number[a + b]) for a, b in merges])


@given(merge_lists())
@example((["a", "b", "c", "aa", "ba", "bba", "abba"], [("a", "a"), ("b", "ba"), ("a", "bba"), ("b", "a")]))
@settings(deadline=None, max_examples=300)
def test_every_pair_and_every_sequence(case: tuple[list[str], Merges]) -> None:
    tokens, merges = case
    test = pair_test(tokens, merges)
    library = tokenizers.Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges))

    def encode(text: str) -> list[int]:
        token_ids: list[int] = library.encode(text).ids
        assert test.encode(text.encode()) == token_ids
        return token_ids

    canonical = [index for index, token in enumerate(tokens) if encode(token) == [index]]
    assert np.flatnonzero(test.is_canonical).tolist() == canonical
    everything = np.array(canonical, np.int32)
    for left in canonical:
        expected = [encode(tokens[left] + tokens[right]) == [left, right] for right in canonical]
        assert test.allowed_after(left, everything).tolist() == expected
        assert [test.allows(left, right) for right in canonical] == expected
        assert test.allowed_pairs(np.full(len(canonical), left), everything.astype(np.int64)).tolist() == expected
        assert expected.count(False) <= test.refused_counts[left]
    # The lemma: a sequence is an encoding iff its neighbours are, two by two.
    source = random.Random(len(merges))
    text = "".join(source.choice(tokens[:2]) for _ in range(7))
    for sequence in segmentations([token.encode() for token in tokens], text.encode()):
        local = all(test.is_canonical[token] for token in sequence) and all(
            test.allows(left, right) for left, right in itertools.pairwise(sequence)
        )
        assert local == (list(sequence) == encode(text))


def test_real_merges(real: Tokenizer) -> None:
    model = real.configuration["model"]
    vocabulary = model["vocab"]
    pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
    test = PairTest(real.vocabulary.token_bytes, [(vocabulary[a], vocabulary[b], vocabulary[a + b]) for a, b in pairs])
    source = random.Random(3)
    tokens = np.flatnonzero(test.is_canonical).tolist()
    assert len(tokens) == sum(item is not None for item in real.vocabulary.token_bytes)
    spelled = real.vocabulary.token_bytes
    number = {item: token for token, item in enumerate(spelled) if item}
    pairs_seen = []
    for _ in range(400):
        left, right = source.choice(tokens), source.choice(tokens)
        data = spelled[source.choice(tokens)] or b""
        if source.random() < 0.6 and len(data) > 1:  # likely to be merged: cut a token in two
            cut = source.randrange(1, len(data))
            left, right = number.get(data[:cut], left), number.get(data[cut:], right)
        pairs_seen.append((left, right, test.encode((spelled[left] or b"") + (spelled[right] or b"")) == [left, right]))
    lefts, rights, expected = (np.array(column) for column in zip(*pairs_seen, strict=True))
    assert 50 < expected.sum() < 350
    assert np.array_equal(test.allowed_pairs(lefts, rights), expected)
    assert [test.allows(left, right) for left, right, _ in pairs_seen] == expected.tolist()
