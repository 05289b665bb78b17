"""Rows and rectangles of ids: cutting, padding, each pair once; and the cost of a batch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from relens.errors import QueryError
from relens.triggers.model.batches import (
    EncodedPairs,
    source_row,
    source_tensor,
    summed_cost,
    target_mask,
    target_row,
    target_tensor,
)
from relens.triggers.model.vocabulary import BEGIN, END, END_OF_UTTERANCE, PAD, SPECIAL_WORDS, WordVocabulary

VOCABULARY = WordVocabulary((*SPECIAL_WORDS, *"abcdefgh"))
A = len(SPECIAL_WORDS)


def test_an_input_is_filled_up_from_the_left_and_loses_its_beginning():
    assert source_row(VOCABULARY, "ab", length=5) == [PAD, PAD, A, A + 1, END_OF_UTTERANCE]
    assert source_row(VOCABULARY, "abcdef", length=4) == [A + 3, A + 4, A + 5, END_OF_UTTERANCE]
    assert source_row(VOCABULARY, "ab", length=1) == [END_OF_UTTERANCE]
    assert source_row(VOCABULARY, (), length=2) == [PAD, END_OF_UTTERANCE]


def test_a_reply_loses_its_end():
    assert target_row(VOCABULARY, "ab", length=5) == [BEGIN, A, A + 1, END]
    assert target_row(VOCABULARY, "abc", length=5) == [BEGIN, A, A + 1, A + 2, END]
    assert target_row(VOCABULARY, "abcd", length=5) == [BEGIN, A, A + 1, A + 2, A + 3]


@given(st.lists(st.text("abcdefgh", max_size=30), min_size=1, max_size=9))
def test_rectangles_hold_the_rows(texts):
    sources = [source_row(VOCABULARY, text) for text in texts]
    targets = [target_row(VOCABULARY, text) for text in texts]
    assert source_tensor(sources).tolist() == sources
    tensor = target_tensor(targets)
    assert [[number for number in row if number != PAD] for row in tensor.tolist()] == targets
    assert target_mask(tensor).sum(1).tolist() == [len(row) - 1 for row in targets]


@given(
    st.lists(st.text("abcdefgh", max_size=30), min_size=1, max_size=60),
    st.integers(1, 9),
    st.none() | st.integers(0, 5),
)
def test_each_pair_comes_once(texts, size, seed):
    pairs = EncodedPairs(
        tuple(source_row(VOCABULARY, text[::-1]) for text in texts),
        tuple(target_row(VOCABULARY, text) for text in texts),
    )
    batches = list(pairs.batches(size, seed))
    assert len(batches) == pairs.batch_count(size)
    batched = [
        (source, [number for number in target if number != PAD])
        for batch in batches
        for source, target in zip(batch.source_ids.tolist(), batch.target_ids.tolist(), strict=True)
    ]
    assert sorted(batched) == sorted(zip(pairs.sources, pairs.targets, strict=True))
    assert sum(batch.words for batch in batches) == sum(len(row) - 1 for row in pairs.targets)
    assert all(batch.source_ids.dtype == batch.target_ids.dtype == torch.int64 for batch in batches)


def test_each_seed_has_an_order_of_its_own():
    rows = tuple([BEGIN, *[A] * (number % 7), END] for number in range(300))
    pairs = EncodedPairs(tuple([number] for number in range(300)), rows)

    def order(seed):
        return [number for batch in pairs.batches(4, seed) for number in batch.source_ids[:, 0].tolist()]

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert [len(rows[number]) for number in order(None)] == sorted(map(len, rows))


def test_replies_of_a_batch_are_of_like_length():
    rows = tuple([BEGIN, *[A] * (number % 18), END] for number in range(2000))
    pairs = EncodedPairs(tuple([number] for number in range(2000)), rows)
    spent = sum(batch.target_ids[:, 1:].numel() for batch in pairs.batches(32, seed=0))
    assert spent < 1.05 * sum(len(row) - 1 for row in rows)


def test_no_rectangle_without_rows():
    for wrong in ([], [[1], [1, 2]]):
        with pytest.raises(QueryError):
            source_tensor(wrong)
    for wrong in ([], [[BEGIN]]):
        with pytest.raises(QueryError):
            target_tensor(wrong)
    with pytest.raises(QueryError):
        list(EncodedPairs((), ()).batches(0))


SIZE, HIDDEN = 11, 3


@given(
    lengths=st.lists(st.integers(1, 30), min_size=1, max_size=8), seed=st.integers(0, 1000), lone_padding=st.booleans()
)
def test_the_cost_of_a_batch_is_that_of_its_words(lengths, seed, lone_padding):
    torch.manual_seed(seed)
    output = nn.Linear(HIDDEN, SIZE)
    ids = torch.full((len(lengths), max(lengths) + 1 + lone_padding), PAD)
    ids[:, 0] = BEGIN
    for row, length in enumerate(lengths):
        ids[row, 1 : length + 1] = torch.randint(PAD + 1, SIZE, (length,))
    states = torch.randn(*ids[:, 1:].shape, HIDDEN, requires_grad=True)
    wanted = sum(
        -torch.log_softmax(output(states[row, place]), dim=0)[ids[row, place + 1]]
        for row, length in enumerate(lengths)
        for place in range(length)
    )
    cost = summed_cost(output, states, ids)
    torch.testing.assert_close(cost, wanted, rtol=1e-5, atol=1e-4)
    mine, theirs = (torch.autograd.grad(one, [states, *output.parameters()]) for one in (cost, wanted))
    for one, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_a_batch_without_words_costs_nothing():
    assert summed_cost(nn.Linear(HIDDEN, SIZE), torch.zeros(2, 1, HIDDEN), torch.full((2, 2), PAD)).item() == 0


def test_the_output_layer_meets_few_sizes():
    sizes = set()
    output = nn.Linear(HIDDEN, SIZE)
    output.register_forward_pre_hook(lambda _, given: sizes.add(len(given[0])))
    for length in range(1, 65):
        ids = torch.full((2, length + 1), PAD + 1)
        summed_cost(output, torch.zeros(2, length, HIDDEN), ids)
    assert sizes == {64, 128}
