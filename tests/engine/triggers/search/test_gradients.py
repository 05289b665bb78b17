"""Slopes against finite differences, in double precision, with inputs as mixtures of words."""

from __future__ import annotations

import copy

import pytest
import torch

from engine.triggers.hits import HitType, Thresholds
from engine.triggers.model.vocabulary import BEGIN, END, END_OF_UTTERANCE, FORBIDDEN
from engine.triggers.objective import Objective
from engine.triggers.search.gradients import first_order, shortlist
from tests.engine.triggers.conftest import SIZE

LENGTH = 5
STEP = 1e-6
NAMES = ["o-greedy", "o-sample-min-k1", "o-sample-avg-k2", "io-sample-min-k2", "io-sample-avg-k1"]


def drawn(rows: int, seed: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    sources = torch.randint(5, SIZE, (rows, LENGTH), generator=generator)
    sources[:, -1] = END_OF_UTTERANCE
    targets = torch.randint(5, SIZE, (rows, 4), generator=generator)
    targets[:, 0], targets[:, -1] = BEGIN, END
    return sources, targets


def relaxed_cost(seq2seq, sentence_model, objective, mixture, target_ids, weights):
    """The objective with the input as a mixture (n, size) of words; what counts of each word is given."""
    word_weights, input_weight = weights
    encoded = seq2seq.encode(embeddings=(mixture @ seq2seq.source_embedding.weight)[None])
    log_probs = torch.log_softmax(seq2seq.logits(encoded, target_ids[None])[0], dim=1)
    cost = -(word_weights * log_probs.gather(1, target_ids[1:, None])[:, 0]).sum()
    if objective.scores_inputs:
        n = len(mixture)
        begin, end = torch.eye(SIZE, dtype=mixture.dtype)[[BEGIN, END]]
        read = torch.cat([begin[None], mixture[:-1]])
        said = torch.cat([mixture[:-1], end[None]])
        states = sentence_model.states(embeddings=(read @ sentence_model.embedding.weight)[None])[0]
        input_log_probs = torch.log_softmax(sentence_model.output(states), dim=1)
        cost = cost - input_weight * (said * input_log_probs).sum() / n
    return cost


@pytest.mark.parametrize("name", NAMES)
@torch.no_grad()
def test_slopes_are_finite_differences(seq2seq, sentence_model, name):
    seq2seq, sentence_model = copy.deepcopy(seq2seq).double(), copy.deepcopy(sentence_model).double()
    objective = Objective(HitType.called(name), Thresholds(-4.0, -3.5), 0.3, 0.7, 0.2)
    sources, targets = drawn(3)
    slopes = first_order(seq2seq, sentence_model, objective, sources, targets)
    for row in range(len(sources)):
        logits = seq2seq.logits(seq2seq.encode(sources[row : row + 1]), targets[row : row + 1])
        log_probs = torch.log_softmax(logits, dim=2)
        words = targets[row, 1:]
        costs = -log_probs[0].gather(1, words[:, None])[:, 0]
        word_weights = objective.word_weights(costs, log_probs[0].argmax(dim=1) == words)
        judged = -sentence_model.input_log_probs(sources[row : row + 1]).mean(dim=1).double()
        weights = word_weights, objective.input_weights(judged)[0]
        one_hot = torch.eye(SIZE, dtype=torch.float64)[sources[row]]
        for place in range(LENGTH - 1):
            promise = slopes.at(place)[row]
            for word in range(0, SIZE, 7):
                ends = []
                for sign in (1.0, -1.0):
                    mixture = one_hot.clone()
                    mixture[place, word] += sign * STEP
                    ends.append(relaxed_cost(seq2seq, sentence_model, objective, mixture, targets[row], weights))
                slope = float(ends[0] - ends[1]) / (2 * STEP)
                assert float(promise[word]) == pytest.approx(-slope, rel=1e-5, abs=1e-7)


def test_rows_do_not_know_of_each_other(seq2seq, sentence_model, monkeypatch):
    monkeypatch.setattr("engine.triggers.search.gradients.MOST_LOGITS", 2 * SIZE * LENGTH)
    objective = Objective(HitType("io", "min"), Thresholds(-4.0, -3.5))
    sources, targets = drawn(5)
    slopes = first_order(seq2seq, sentence_model, objective, sources, targets)
    for row in range(5):
        alone = first_order(seq2seq, sentence_model, objective, sources[row : row + 1], targets[row : row + 1])
        assert torch.allclose(slopes.at(2)[row], alone.at(2)[0], atol=1e-5)


def test_no_gradient_is_left_behind(seq2seq, sentence_model):
    sources, targets = drawn(2)
    slopes = first_order(seq2seq, sentence_model, Objective(HitType("io"), Thresholds(-4.0, -3.5)), sources, targets)
    assert not slopes.at(0).requires_grad
    assert all(parameter.grad is None for parameter in (*seq2seq.parameters(), *sentence_model.parameters()))


def test_a_shortlist_has_the_best_words_that_may_stand_there():
    promise = torch.randn(4, SIZE, generator=torch.Generator().manual_seed(0))
    promise[:, list(FORBIDDEN)] = 50.0
    present = torch.tensor([7, 8, 9, 10])
    words = shortlist(promise, present, 6)
    for row in range(4):
        allowed = [word for word in range(SIZE) if word not in FORBIDDEN and word != int(present[row])]
        best = sorted(allowed, key=lambda word: -float(promise[row, word]))[:6]
        assert words[row].tolist() == best
    assert shortlist(promise, present, 10_000).shape == (4, SIZE - len(FORBIDDEN) - 1)
