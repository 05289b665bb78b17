"""Single steps of an LSTM are those of `nn.LSTM`, by a table, by several words at once, and with a context."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from relens.triggers.model.lstm import GateWeights, State, WordSteps, lstm_step

SIZE, EMBEDDING, HIDDEN, ROWS, COUNT = 11, 4, 5, 3, 6
CLOSE = {"atol": 1e-5, "rtol": 1e-4}


@pytest.fixture
def steps():
    torch.manual_seed(0)
    return nn.LSTM(EMBEDDING, HIDDEN, batch_first=True).requires_grad_(False), nn.Embedding(SIZE, EMBEDDING)


def test_steps_from_a_table_are_those_of_the_whole(steps):
    lstm, embedding = steps
    words = torch.randint(SIZE, (ROWS, 7))
    with torch.no_grad():
        whole, (_, cell) = lstm(embedding(words))
        table = WordSteps(lstm, embedding)
        state = table.start(ROWS)
        for place in range(words.shape[1]):
            state = table.step(words[:, place], state)
            torch.testing.assert_close(state.output, whole[:, place], **CLOSE)
    torch.testing.assert_close(state.cell, cell[0], **CLOSE)


def test_several_words_or_states_a_row_are_one_by_one(steps):
    lstm, embedding = steps
    words = torch.randint(SIZE, (ROWS, COUNT))
    with torch.no_grad():
        table = WordSteps(lstm, embedding)
        state = table.step(words[:, 0], table.start(ROWS))
        after = table.several(words, state)
        later = table.shared(words[:, 1], after)
        for column in range(COUNT):
            one = table.step(words[:, column], state)
            torch.testing.assert_close(after.output[:, column], one.output, **CLOSE)
            torch.testing.assert_close(after.cell[:, column], one.cell, **CLOSE)
            torch.testing.assert_close(later.output[:, column], table.step(words[:, 1], one).output, **CLOSE)


def test_gates_are_sums_of_their_terms():
    torch.manual_seed(1)
    lstm = nn.LSTM(EMBEDDING + HIDDEN, HIDDEN, batch_first=True)
    weights = GateWeights.of(lstm, EMBEDDING)
    word, context, output, cell = torch.randn(ROWS, EMBEDDING), *(torch.randn(ROWS, HIDDEN) for _ in range(3))
    gates = weights.of_words(word) + context @ weights.context.T + output @ weights.output.T
    state = lstm_step(gates, cell)
    _, wanted = lstm(torch.cat([word, context], dim=1)[:, None], (output[None], cell[None]))
    torch.testing.assert_close(state, State(wanted[0][0], wanted[1][0]), **CLOSE)
    both = torch.cat([context, output], dim=1) @ weights.context_and_output.T
    torch.testing.assert_close(weights.of_words(word) + both, gates, **CLOSE)
