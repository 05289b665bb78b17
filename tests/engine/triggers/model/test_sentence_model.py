"""The sentence model: against one word at a time, and its draws."""

from __future__ import annotations

import pytest
import torch

from relens.errors import QueryError
from relens.triggers.model.batches import target_tensor
from relens.triggers.model.sentence_model import SentenceModelConfiguration, as_sentence
from relens.triggers.model.vocabulary import BEGIN, END, END_OF_UTTERANCE, FORBIDDEN, UNKNOWN
from tests.engine.triggers.conftest import SIZE

ROWS = [[BEGIN, 9, 8, END], [BEGIN, 5, END], [BEGIN, 7, 7, 7, 12, END], [BEGIN, END]]


def next_word(model, ids):
    """Log-probabilities of the word after these, with cells of LSTM in place of the whole."""
    cell = torch.nn.LSTMCell(model.configuration.embedding, model.configuration.hidden)
    for name, weight in model.lstm.named_parameters():
        getattr(cell, name.removesuffix("_l0")).data = weight.data
    state = None
    for number in ids:
        state = cell(model.embedding(torch.tensor([number])), state)
    return torch.log_softmax(model.output(state[0][0]), dim=0)


def test_each_word_has_the_log_probability_of_one_step(sentence_model):
    with torch.no_grad():
        scores = sentence_model.log_probs(target_tensor(ROWS))
        total = 0.0
        for row, log_probs in zip(ROWS, scores, strict=True):
            for place, number in enumerate(row[1:]):
                expected = float(next_word(sentence_model, row[: place + 1])[number])
                assert float(log_probs[place]) == pytest.approx(expected, abs=1e-5)
                total -= expected
            assert (log_probs[len(row) - 1 :] == 0.0).all()
        assert float(sentence_model(target_tensor(ROWS))) == pytest.approx(total, abs=1e-3)


def test_an_input_is_scored_as_a_sentence_that_ends(sentence_model):
    inputs = torch.tensor([[9, 8, 7, END_OF_UTTERANCE], [5, 5, 5, END_OF_UTTERANCE]])
    assert as_sentence(inputs).tolist() == [[BEGIN, 9, 8, 7, END], [BEGIN, 5, 5, 5, END]]
    with torch.no_grad():
        scores = sentence_model.input_log_probs(inputs)
        assert scores.shape == inputs.shape
        for row, log_probs in zip([[9, 8, 7, END], [5, 5, 5, END]], scores, strict=True):
            for place, number in enumerate(row):
                expected = next_word(sentence_model, [BEGIN, *row[:place]])[number]
                assert float(log_probs[place]) == pytest.approx(float(expected), abs=1e-5)


def test_embeddings_carry_gradients(sentence_model):
    model = sentence_model.double()
    embeddings = model.embedding(torch.tensor([[BEGIN, 6, 7]])).detach().requires_grad_(True)
    assert torch.autograd.gradcheck(lambda given: model.output(model.states(embeddings=given)).sum(), (embeddings,))
    with pytest.raises(ValueError):
        model.states()


def test_drawn_inputs_are_full_and_have_no_forbidden_id(sentence_model):
    drawn = sentence_model.sample_inputs(500, torch.Generator().manual_seed(3), length=6)
    assert drawn.shape == (500, 6)
    assert (drawn[:, -1] == END_OF_UTTERANCE).all()
    assert not set(drawn[:, :-1].unique().tolist()) & set(FORBIDDEN)
    assert UNKNOWN in drawn
    again = sentence_model.sample_inputs(500, torch.Generator().manual_seed(3), length=6)
    assert torch.equal(drawn, again)
    with pytest.raises(QueryError):
        sentence_model.sample_inputs(1, torch.Generator(), length=1)


def test_inputs_are_drawn_from_the_model(sentence_model):
    """The first word: the model's own distribution without the forbidden ones, within five standard errors."""
    drawn = sentence_model.sample_inputs(20_000, torch.Generator().manual_seed(4), length=2)[:, 0]
    with torch.no_grad():
        expected = next_word(sentence_model, [BEGIN]).exp()
    expected[list(FORBIDDEN)] = 0.0
    expected /= expected.sum()
    shares = torch.bincount(drawn, minlength=SIZE) / len(drawn)
    assert ((shares - expected).abs() <= 5.0 * (expected * (1.0 - expected) / len(drawn)).sqrt()).all()


@pytest.mark.parametrize("settings", [{"embedding": 0}, {"hidden": 5000}, {"dropout": 1.0}])
def test_shapes_without_meaning_are_refused(settings):
    with pytest.raises(QueryError):
        SentenceModelConfiguration(SIZE, **settings)
