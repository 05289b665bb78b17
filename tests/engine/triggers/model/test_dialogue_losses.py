"""Losses and scores against direct forwards of the models; slopes against finite differences in double precision."""

from __future__ import annotations

import copy

import pytest
import torch

from relens.triggers import check
from relens.triggers.hits import HitType, Score, Thresholds
from relens.triggers.model.dialogue_losses import DialogueLosses, SentenceCosts
from relens.triggers.model.vocabulary import BEGIN, END, END_OF_UTTERANCE
from relens.triggers.objective import Objective
from relens.triggers.problem import FirstOrder, TriggerProblem
from tests.engine.triggers.conftest import SIZE
from tests.engine.triggers.oracle import evaluate

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


def first_order(seq2seq, sentence_model, objective, sources, targets) -> FirstOrder:
    problem = TriggerProblem(DialogueLosses(seq2seq, targets), objective, SentenceCosts(sentence_model))
    return problem.first_order(sources[:, :-1])


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
        mean_costs = -sentence_model.input_log_probs(sources[row : row + 1]).mean(dim=1).double()
        weights = word_weights, objective.input_weights(mean_costs)[0]
        one_hot = torch.eye(SIZE, dtype=torch.float64)[sources[row]]
        for place in range(LENGTH - 1):
            gain = slopes.estimated_gain(place)[row]
            for word in range(0, SIZE, 7):
                ends = []
                for sign in (1.0, -1.0):
                    mixture = one_hot.clone()
                    mixture[place, word] += sign * STEP
                    ends.append(relaxed_cost(seq2seq, sentence_model, objective, mixture, targets[row], weights))
                slope = float(ends[0] - ends[1]) / (2 * STEP)
                assert float(gain[word]) == pytest.approx(-slope, rel=1e-5, abs=1e-7)


def test_rows_are_independent(seq2seq, sentence_model, monkeypatch):
    monkeypatch.setattr("relens.triggers.model.dialogue_losses.MOST_LOGITS", 2 * SIZE * LENGTH)
    objective = Objective(HitType("io", "min"), Thresholds(-4.0, -3.5))
    sources, targets = drawn(5)
    slopes = first_order(seq2seq, sentence_model, objective, sources, targets)
    for row in range(5):
        alone = first_order(seq2seq, sentence_model, objective, sources[row : row + 1], targets[row : row + 1])
        assert torch.allclose(slopes.estimated_gain(2)[row], alone.estimated_gain(2)[0], atol=1e-5)


def test_no_gradient_is_left_behind(seq2seq, sentence_model):
    sources, targets = drawn(2)
    slopes = first_order(seq2seq, sentence_model, Objective(HitType("io"), Thresholds(-4.0, -3.5)), sources, targets)
    assert not slopes.estimated_gain(0).requires_grad
    assert all(parameter.grad is None for parameter in (*seq2seq.parameters(), *sentence_model.parameters()))


def test_scores_are_those_of_the_models(seq2seq, sentence_model):
    generator = torch.Generator().manual_seed(2)
    sources = torch.randint(5, SIZE, (7, 5), generator=generator)
    sources[:, -1] = END_OF_UTTERANCE
    targets = [[*torch.randint(5, SIZE, (length,), generator=generator).tolist(), END] for length in range(7)]
    for place in range(0, 7, 2):  # some that the model says
        targets[place] = seq2seq.greedy(seq2seq.encode(sources[place : place + 1]))[0]
    scores = evaluate(seq2seq, sentence_model, sources, targets, batch=3)
    for place, (target, score) in enumerate(zip(targets, scores, strict=True)):
        encoded = seq2seq.encode(sources[place : place + 1])
        with torch.no_grad():
            log_probs = torch.log_softmax(seq2seq.logits(encoded, torch.tensor([[BEGIN, *target]])), dim=2)[0]
        expected = [float(row[number]) for row, number in zip(log_probs, target, strict=True)]
        assert score.token_log_probs == pytest.approx(expected, abs=1e-4)
        assert score.average == pytest.approx(sum(expected) / len(expected), abs=1e-4)
        assert score.lowest == min(score.token_log_probs)
        inputs = sentence_model.input_log_probs(sources[place : place + 1])[0].tolist()
        assert score.input_log_probs == pytest.approx(inputs, abs=1e-5)
        assert list(score.reply) == seq2seq.greedy(encoded)[0]
        said = list(score.reply)[: len(target)] == target
        assert score.is_hit(HitType("o", "greedy"), Thresholds(-1.0, -1.0)) == said
        assert said or place % 2
    assert Score.from_json(scores[0].to_json()) == scores[0]


def test_the_losses_of_a_prompt_agree_with_its_scores(dialogue_model):
    target = [*dialogue_model.vocabulary.ids(["word2", "word3"]), END]
    losses, costs = dialogue_model.losses(target)
    triggers = torch.tensor([losses.prompt.ids_of("word1 word9")[:-1], losses.prompt.ids_of("word4")[:-1]])
    target_costs, input_costs = losses.of_triggers(triggers), costs.mean_costs(triggers)
    for row, text in enumerate(("word1 word9", "word4")):
        assert losses.prompt.text(triggers[row].tolist()) == text
        assert losses.prompt.survives(triggers[row].tolist())
        expected = check.score(losses, text, costs)
        (plain,) = evaluate(
            dialogue_model.seq2seq,
            dialogue_model.sentence_model,
            torch.tensor([losses.prompt.read(text)]),
            [target],
        )
        for one, other in zip(expected.to_json().values(), plain.to_json().values(), strict=True):
            assert one == pytest.approx(other, abs=1e-6)
        assert target_costs.costs[row].tolist() == pytest.approx([-cost for cost in expected.token_log_probs], abs=1e-5)
        assert target_costs.leads[row].tolist() == pytest.approx(list(expected.leads), abs=1e-5)
        assert float(input_costs[row]) == pytest.approx(-expected.input_average, abs=1e-5)
