"""The cost of a batch is that of its words one by one, whatever padding there is."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from engine.triggers.vocabulary import BEGIN, PAD
from engine.triggers.word_costs import summed_cost

VOCABULARY, HIDDEN = 11, 3


@given(
    lengths=st.lists(st.integers(1, 30), min_size=1, max_size=8), seed=st.integers(0, 1000), lone_padding=st.booleans()
)
def test_the_cost_of_a_batch_is_that_of_its_words(lengths, seed, lone_padding):
    torch.manual_seed(seed)
    output = nn.Linear(HIDDEN, VOCABULARY)
    ids = torch.full((len(lengths), max(lengths) + 1 + lone_padding), PAD)
    ids[:, 0] = BEGIN
    for row, length in enumerate(lengths):
        ids[row, 1 : length + 1] = torch.randint(PAD + 1, VOCABULARY, (length,))
    states = torch.randn(*ids[:, 1:].shape, HIDDEN, requires_grad=True)
    wanted = sum(
        -torch.log_softmax(output(states[row, place]), dim=0)[ids[row, place + 1]]
        for row, length in enumerate(lengths)
        for place in range(length)
    )
    found = summed_cost(output, states, ids)
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-4)
    mine, theirs = (torch.autograd.grad(cost, [states, *output.parameters()]) for cost in (found, wanted))
    for one, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_a_batch_without_words_costs_nothing():
    assert summed_cost(nn.Linear(HIDDEN, VOCABULARY), torch.zeros(2, 1, HIDDEN), torch.full((2, 2), PAD)).item() == 0


def test_the_output_layer_meets_few_sizes():
    sizes = set()
    output = nn.Linear(HIDDEN, VOCABULARY)
    output.register_forward_pre_hook(lambda _, given: sizes.add(len(given[0])))
    for length in range(1, 65):
        ids = torch.full((2, length + 1), PAD + 1)
        summed_cost(output, torch.zeros(2, length, HIDDEN), ids)
    assert sizes == {64, 128}
