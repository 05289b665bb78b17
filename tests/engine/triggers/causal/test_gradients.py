"""Slopes of the objective against finite differences along mixtures of tokens."""

from __future__ import annotations

import math

import pytest
import torch

from relens.triggers.causal.coordinate import CoordinateSearch
from relens.triggers.causal.input_scores import InputScores
from relens.triggers.causal.losses import CausalLosses
from relens.triggers.causal.trial import Trial
from relens.triggers.check import score
from relens.triggers.hits import HitType, Thresholds
from relens.triggers.objective import Objective
from relens.triggers.problem import TriggerProblem
from tests.engine.triggers.causal.conftest import make_prompt
from tests.engine.triggers.causal.test_losses import random_triggers

STEP = 2e-3


def difference(value, embedding, table, token) -> float:
    """The slope of `value` when a small share of `token` is added to what is read."""
    return float(value(embedding + STEP * table[token]) - value(embedding - STEP * table[token])) / (2.0 * STEP)


@pytest.mark.parametrize("held", [0, 2])
@pytest.mark.parametrize("hit_type", ["o-greedy", "o-sample-min-k1", "o-sample-avg-k2"])
def test_slopes_are_finite_differences(model, held, hit_type):
    prompt = make_prompt(model)
    losses = CausalLosses(model, prompt)
    objective = Objective(HitType.called(hit_type), Thresholds(-6.0, -5.0), 0.3)
    trigger = random_triggers(prompt, 1, seed=5)
    losses.hold(trigger[0].tolist(), held)
    found = losses.of_triggers(trigger)
    weights = objective.word_weights(found.costs, found.leads > 0.0)
    slopes = TriggerProblem(losses, objective).first_order(trigger)
    read = losses.table[trigger[:, held:]]
    for place in range(held, prompt.free):
        (gain,) = slopes.estimated_gain(place)
        assert gain.shape == (len(losses.table),)

        def value(embedding: torch.Tensor, place: int = place) -> torch.Tensor:
            changed = read.clone()
            changed[0, place - held] = embedding
            return (weights * losses.of_embeddings(changed).costs).sum()

        for token in (7, 200):
            expected = difference(value, read[0, place - held], losses.table, token)
            assert -float(gain[token]) == pytest.approx(expected, rel=0.03, abs=0.02)


def test_slopes_of_inputs_are_finite_differences(model):
    prompt = make_prompt(model)
    losses = CausalLosses(model, prompt)
    inputs = InputScores(model, prompt, losses.network)
    trigger = random_triggers(prompt, 1, seed=5)
    slopes = inputs.slopes(trigger)
    assert float(slopes.mean) == pytest.approx(float(inputs.mean_costs(trigger)), abs=1e-4)
    begin = torch.tensor([[] if model.begin_of_text is None else [model.begin_of_text]], dtype=torch.long)
    scored = prompt.free - 1 + begin.shape[1]  # without a begin of text the first token has nothing before it
    shares = torch.nn.functional.one_hot(trigger, len(losses.table)).float()

    def value(mixture: torch.Tensor) -> torch.Tensor:
        """The mean cost of a mixture: read as mixed embeddings, and predicted in the same shares."""
        read = torch.cat([losses.table[begin], mixture @ losses.table], dim=1)
        with torch.inference_mode():
            log_probs = torch.log_softmax(model.network(inputs_embeds=read).logits[:, :-1].float(), dim=2)
        return -(mixture[:, -scored:] * log_probs).sum() / scored

    for place in range(prompt.free):
        for token in (7, 200):
            step = torch.zeros_like(shares)
            step[0, place, token] = STEP
            expected = float(value(shares + step) - value(shares - step)) / (2.0 * STEP)
            assert float(slopes.at(place)[0, token]) == pytest.approx(expected, rel=0.03, abs=0.02)


def test_input_scores_are_those_of_the_text_by_itself(model):
    prompt = make_prompt(model)
    losses = CausalLosses(model, prompt)
    inputs = InputScores(model, prompt, losses.network)
    triggers = random_triggers(prompt, 70)
    means = inputs.mean_costs(triggers)
    for row in (0, 64, 69):
        ids = triggers[row].tolist()
        read = model.read(ids, begin_of_text=model.begin_of_text is not None)
        expected = -read.gather(1, triggers[row][-len(read) :, None])[:, 0]
        assert float(means[row]) == pytest.approx(float(expected.mean()), abs=1e-4)


def test_another_judge_reads_the_text_in_its_own_tokens(tiny, chat_model, byte_tokenizer):
    judge = type(chat_model)("judge", byte_tokenizer, chat_model.network, fingerprint="")
    prompt = make_prompt(tiny)
    inputs = InputScores(judge, prompt)
    assert not inputs.has_gradient
    triggers = random_triggers(prompt, 9)
    means = inputs.mean_costs(triggers)
    lengths = set()
    for row in range(9):
        ids = byte_tokenizer.encode(prompt.text(triggers[row].tolist()))
        lengths.add(len(ids))
        expected = -judge.read(ids, begin_of_text=True).gather(1, torch.tensor(ids)[:, None])[:, 0]
        assert float(means[row]) == pytest.approx(float(expected.mean()), abs=1e-4)
    assert len(lengths) > 1


def test_a_text_of_which_the_judge_scores_nothing_costs_as_if_drawn_blindly(tiny, monkeypatch):
    monkeypatch.setattr(type(tiny), "begin_of_text", None)
    prompt = make_prompt(tiny, free=1)
    losses = CausalLosses(tiny, prompt)
    inputs = InputScores(tiny, prompt, losses.network)
    objective = Objective(HitType("io", "avg"), Thresholds(-3.0, -3.0))
    trigger = random_triggers(prompt, 1)
    assert inputs.token_costs([[7], [], [7, 8]])[:2] == [[math.log(tiny.vocabulary_size)]] * 2
    assert not inputs.slopes(trigger).at(0).any()
    trial = Trial(losses, objective, 30, 0, inputs)
    for _ in CoordinateSearch(shortlist=4).steps(trial):
        pass
    # It is no hit by having no cost: T_in asks for 3 nats a token at most.
    assert trial.hit is None
    assert "io-sample-avg-k1" in score(losses, prompt.text(trial.best), inputs).margins(objective.thresholds)
