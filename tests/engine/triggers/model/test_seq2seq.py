"""The dialogue model, against one written with numpy step by step, and against itself one step at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from relens.errors import QueryError
from relens.triggers.model.batches import target_mask, target_tensor
from relens.triggers.model.seq2seq import Seq2Seq, Seq2SeqConfiguration
from relens.triggers.model.vocabulary import BEGIN, END, PAD
from tests.engine.triggers.conftest import HIDDEN, SIZE

GENERATOR = torch.Generator().manual_seed(5)
SOURCES = torch.randint(5, SIZE, (4, 7), generator=GENERATOR)
TARGETS = target_tensor([[BEGIN, 9, 8, END], [BEGIN, 5, END], [BEGIN, 7, 7, 7, 12, END], [BEGIN, END]])


def sigmoid(values):
    return 1.0 / (1.0 + np.exp(-values))


def lstm_step(lstm, read, output, cell):
    of_input, of_output, bias, more = (weight.detach().double().numpy() for weight in lstm.all_weights[0])
    input_gate, forget_gate, candidate, output_gate = np.split(of_input @ read + bias + of_output @ output + more, 4)
    cell = sigmoid(forget_gate) * cell + sigmoid(input_gate) * np.tanh(candidate)
    return sigmoid(output_gate) * np.tanh(cell), cell


def by_hand(model, source, target):
    """Log-probabilities of all words at each step of one pair, and the attention weights of each."""
    table = model.source_embedding.weight.detach().double().numpy()
    output = cell = np.zeros(HIDDEN)
    states = []
    for number in source:
        output, cell = lstm_step(model.encoder, table[number], output, cell)
        states.append(output)
    table = model.target_embedding.weight.detach().double().numpy()
    output = cell = np.zeros(HIDDEN)
    rows, maps = [], []
    for number in target[:-1]:
        embedded = table[number]
        if model.configuration.context == "last":
            weights = np.eye(len(states))[-1]
        else:
            read = output
            if model.configuration.context == "mlp-query":
                read = np.concatenate([embedded, output, cell])
            query = model.query.weight.detach().double().numpy() @ read
            if model.configuration.context == "mlp-query":
                query = np.maximum(query + model.query.bias.detach().double().numpy(), 0.0)
            energies = np.array([state @ query for state in states])
            weights = np.exp(energies) / np.exp(energies).sum()
        maps.append(weights)
        context = sum(weight * state for weight, state in zip(weights, states, strict=True))
        output, cell = lstm_step(model.decoder, np.concatenate([embedded, context]), output, cell)
        logits = model.output.weight.detach().double().numpy() @ output + model.output.bias.detach().double().numpy()
        rows.append(logits - np.log(np.exp(logits).sum()))
    return np.array(rows), np.array(maps)


def test_log_probabilities_agree_with_numpy(seq2seq):
    encoded = seq2seq.encode(SOURCES)
    with torch.no_grad():
        costs = seq2seq.target_costs(encoded, TARGETS)
        total = float(seq2seq(SOURCES, TARGETS))
        maps = seq2seq.attention_map(encoded, TARGETS)
    expected_total = 0.0
    for place, (source, target) in enumerate(zip(SOURCES.tolist(), TARGETS.tolist(), strict=True)):
        target = [number for number in target if number != PAD]
        expected, weights = by_hand(seq2seq, source, target)
        own = np.array([row[number] for row, number in zip(expected, target[1:], strict=True)])
        ahead = [row[number] - np.delete(row, number).max() for row, number in zip(expected, target[1:], strict=True)]
        length = len(own)
        assert -costs.costs[place, :length].numpy() == pytest.approx(own, abs=1e-4)
        assert costs.leads[place, :length].numpy() == pytest.approx(np.array(ahead), abs=1e-4)
        assert maps[place, :length].numpy() == pytest.approx(weights, abs=1e-5)
        assert (costs.costs[place, length:] == 0.0).all()
        assert (costs.leads[place, length:] > 0.0).all()
        expected_total -= own.sum()
    assert total == pytest.approx(expected_total, abs=1e-3)


def test_greedy_is_the_likeliest_word_at_each_step(seq2seq):
    sources = torch.randint(5, SIZE, (40, 7), generator=torch.Generator().manual_seed(1))
    replies = seq2seq.greedy(seq2seq.encode(sources), longest=9)
    assert len({tuple(reply) for reply in replies}) > 1
    for source, reply in zip(sources, replies, strict=True):
        assert 1 <= len(reply) <= 9
        assert END not in reply[:-1]
        encoded = seq2seq.encode(source[None])
        with torch.no_grad():
            logits = seq2seq.logits(encoded, torch.tensor([[BEGIN, *reply]]))
        assert logits.argmax(dim=2).tolist() == [reply]
        assert (seq2seq.target_costs(encoded, torch.tensor([[BEGIN, *reply]])).leads > 0.0).all()


def test_steps_and_the_whole_agree(seq2seq):
    encoded = seq2seq.encode(SOURCES)
    with torch.no_grad():
        whole = seq2seq.logits(encoded, TARGETS)
        state = seq2seq.first_state(encoded)
        for place in range(TARGETS.shape[1] - 1):
            logits, state = seq2seq.step(encoded, state, TARGETS[:, place])
            torch.testing.assert_close(logits, whole[:, place], atol=1e-5, rtol=1e-4)


def test_a_pair_is_scored_the_same_alone(seq2seq):
    with torch.no_grad():
        together = seq2seq.target_costs(seq2seq.encode(SOURCES), TARGETS).costs
        for place in range(len(SOURCES)):
            alone = seq2seq.target_costs(seq2seq.encode(SOURCES[place : place + 1]), TARGETS[place : place + 1]).costs
            torch.testing.assert_close(alone[0], together[place], atol=1e-5, rtol=1e-4)


def test_gradients_of_the_input_are_those_of_finite_differences(seq2seq):
    model = seq2seq.double()
    targets = TARGETS[1:3, :4]
    embeddings = model.source_embedding(SOURCES[1:3, :3]).detach().requires_grad_(True)
    wanted = target_mask(targets)

    def loss(embeddings):
        logits = model.logits(model.encode(embeddings=embeddings), targets)
        return -torch.log_softmax(logits, dim=2).gather(2, targets[:, 1:, None])[:, :, 0][wanted].sum()

    assert torch.autograd.gradcheck(loss, (embeddings,))


def test_ids_and_their_embeddings_are_the_same_input(seq2seq):
    by_ids = seq2seq.encode(SOURCES)
    by_embeddings = seq2seq.encode(embeddings=seq2seq.source_embedding(SOURCES))
    assert torch.equal(by_ids.states, by_embeddings.states)
    assert torch.equal(by_ids.last, by_ids.states[:, -1])
    with pytest.raises(ValueError):
        seq2seq.encode()


def test_the_whole_input_counts_with_attention_and_without(seq2seq):
    changed = SOURCES.clone()
    changed[:, 0] = (changed[:, 0] - 4) % 25 + 5
    with torch.no_grad():
        before, after = (seq2seq.logits(seq2seq.encode(ids), TARGETS) for ids in (SOURCES, changed))
    assert not torch.allclose(before, after)


@pytest.mark.parametrize(
    "settings", [{"embedding": 0}, {"hidden": 5000}, {"context": "first"}, {"dropout": 1.0}, {"dropout": -0.1}]
)
def test_shapes_without_meaning_are_refused(settings):
    with pytest.raises(QueryError):
        Seq2SeqConfiguration(SIZE, **settings)


def test_dropout_is_only_in_training():
    torch.manual_seed(0)
    model = Seq2Seq(Seq2SeqConfiguration(SIZE, 6, 8, "general", dropout=0.5))
    with torch.no_grad():
        assert float(model(SOURCES, TARGETS)) != float(model(SOURCES, TARGETS))
        model.eval()
        assert float(model(SOURCES, TARGETS)) == float(model(SOURCES, TARGETS))
