"""The descent on relaxed inputs: its objective by hand and by finite differences, its outcomes by plain evaluation."""

from __future__ import annotations

import math

import pytest
import torch

from relens.errors import LimitError, QueryError
from relens.triggers.model.vocabulary import END, END_OF_UTTERANCE, FORBIDDEN
from relens.triggers.relaxation import descent
from relens.triggers.relaxation.descent import penalty, relax
from relens.triggers.relaxation.rows import DescentProgress
from relens.triggers.relaxation.settings import RelaxationSettings

SETTINGS = RelaxationSettings(steps=100, rate=0.5, penalty=0.1)


def finish(work):
    steps = []
    while True:
        try:
            steps.append(next(work))
        except StopIteration as end:
            return steps, end.value


def targets_of(model, count=4):
    """What the model says to some inputs, so that there is an input for each."""
    generator = torch.Generator().manual_seed(4)
    sources = torch.randint(5, len(model.vocabulary), (60, 6), generator=generator)
    sources[:, -1] = END_OF_UTTERANCE
    replies = model.seq2seq.greedy(model.seq2seq.encode(sources), 12)
    return [list(reply) for reply in dict.fromkeys(map(tuple, replies)) if reply[-1] == END and len(reply) > 1][:count]


def test_the_penalty_is_least_where_every_place_is_a_word():
    words = torch.eye(5)[[1, 3, 3]]
    assert float(penalty(words)) == -3.0
    shares = torch.tensor([[0.5, 0.25, 0.0, 0.0, 0.0], [0.1, 0.9, 0.1, 0.0, 0.0]])
    assert float(penalty(shares)) == pytest.approx((0.75 - 1.0) + (1.1 - 1.8))


@pytest.mark.parametrize("space", ["embedding", "one-hot"])
def test_outcomes_agree_with_plain_greedy_decoding(dialogue_model, space):
    model, targets = dialogue_model, targets_of(dialogue_model)
    assert len(targets) == 4
    steps, outcomes = finish(relax(model, targets, space, SETTINGS, seed=1))
    assert sum(relaxed.hit for relaxed in outcomes) >= 2
    reports = [step for step in steps if isinstance(step, DescentProgress)]
    assert reports[-1].hits == sum(relaxed.first_hit is not None for relaxed in outcomes)
    for target, relaxed in zip(targets, outcomes, strict=True):
        assert relaxed.hit == (list(relaxed.reply) == target) == (relaxed.first_hit is not None)
        assert 0 <= (relaxed.first_hit or 0) <= relaxed.step <= SETTINGS.steps
        # The projection has words that may stand in an input, and its reply is decoded from them.
        assert len(relaxed.projected) == 6
        assert relaxed.projected[-1] == END_OF_UTTERANCE
        assert not set(relaxed.projected[:-1]) & set(FORBIDDEN)
        encoded = model.seq2seq.encode(torch.tensor([relaxed.projected]))
        longest = max(map(len, targets)) + 1
        assert model.seq2seq.greedy(encoded, longest) == [list(relaxed.projected_reply)]
        assert relaxed.projected_hit == (list(relaxed.projected_reply) == target)
        assert (len(relaxed.embedding), len(relaxed.state)) == (6, 6)
        assert relaxed.embedding[-1] == 0.0
        assert min(relaxed.state) >= 0.0
        assert math.isfinite(relaxed.cost)
        if space == "embedding":
            assert (relaxed.largest, relaxed.second, relaxed.vector, relaxed.penalty) == ((), (), (), None)
            assert relaxed.first_hit in (None, relaxed.step)
        else:
            assert [len(column) for column in (relaxed.largest, relaxed.second, relaxed.vector)] == [5, 5, 5]
            for largest, second, vector in zip(relaxed.largest, relaxed.second, relaxed.vector, strict=True):
                assert 0.0 <= second <= largest <= 1.0
                # The distance to the word is at least that of the two largest shares.
                assert vector >= math.hypot(1.0 - largest, second) - 1e-5
            assert relaxed.penalty is not None
            assert relaxed.penalty >= -5.0


@pytest.mark.parametrize("space", ["embedding", "one-hot"])
def test_targets_are_independent(dialogue_model, space):
    targets = targets_of(dialogue_model)
    settings = RelaxationSettings(steps=15, rate=0.5)
    _, together = finish(relax(dialogue_model, targets, space, settings, seed=3))
    for target, relaxed in zip(targets, together, strict=True):
        _, (alone,) = finish(relax(dialogue_model, [target], space, settings, seed=3))
        assert (alone.hit, alone.first_hit, alone.step) == (relaxed.hit, relaxed.first_hit, relaxed.step)
        assert alone.projected == relaxed.projected
        assert alone.state == pytest.approx(relaxed.state, abs=1e-3)
    _, (other,) = finish(relax(dialogue_model, targets[:1], space, settings, seed=4))
    assert other.state != pytest.approx(together[0].state, abs=1e-3)


def test_a_step_goes_down_equation_9(dialogue_model, monkeypatch):
    """One step from shares that are written down, against the objective as the paper writes it."""
    (target,) = targets_of(dialogue_model, 1)
    model = dialogue_model
    monkeypatch.setattr(descent, "BEGINNING", 0.0)
    settings = RelaxationSettings(steps=1, rate=1e-2, momentum=0.0, decay=0.0, epsilon=1.0, penalty=0.7)
    beginning = torch.randn((5, 30), generator=descent._generator(target, 0)).double()

    def objective(variables):
        shares = torch.sigmoid(variables).float()
        shares[:, list(FORBIDDEN)] = 0.0
        read = shares @ model.seq2seq.source_embedding.weight
        end = model.seq2seq.source_embedding.weight[END_OF_UTTERANCE][None]
        encoded = model.seq2seq.encode(embeddings=torch.cat([read, end])[None])
        log_probs = torch.log_softmax(model.seq2seq.logits(encoded, torch.tensor([[2, *target]]))[0].double(), dim=1)
        cost = -sum(log_probs[place, word] for place, word in enumerate(target)) / len(target)
        return float(cost) + 0.7 * sum(float(place.sum() - 2.0 * place.max()) for place in shares.double())

    kept = []
    monkeypatch.setattr(descent._Descent, "_keep", lambda self, step, hits, variables: kept.append(variables))
    finish(relax(model, [target], "one-hot", settings, seed=0))
    assert torch.allclose(kept[0][0].double(), beginning, atol=1e-6)
    slope = (kept[0][0] - kept[1][0]).double() / 1e-2
    direction = torch.randn((5, 30), generator=torch.Generator().manual_seed(1)).double()
    step = 1e-2
    with torch.no_grad():
        difference = (objective(beginning + step * direction) - objective(beginning - step * direction)) / (2 * step)
    assert float((slope * direction).sum()) == pytest.approx(difference, rel=2e-2, abs=2e-3)


def test_a_larger_penalty_brings_inputs_nearer_to_words(dialogue_model):
    targets = targets_of(dialogue_model, 2)
    gaps = []
    for weight in (0.0, 1.0):
        settings = RelaxationSettings(steps=60, rate=0.5, penalty=weight)
        _, outcomes = finish(relax(dialogue_model, targets, "one-hot", settings))
        gaps.append(sum(sum(relaxed.vector) for relaxed in outcomes))
    assert gaps[1] < gaps[0]


def test_an_input_without_an_end_is_free_everywhere(dialogue_model):
    settings = RelaxationSettings(steps=2, ends=False, averages_penalty=True)
    _, (relaxed,) = finish(relax(dialogue_model, targets_of(dialogue_model, 1), "one-hot", settings))
    assert len(relaxed.largest) == len(relaxed.projected) == 6
    assert relaxed.projected[-1] != END_OF_UTTERANCE


def test_wrong_targets_and_spaces_are_refused(dialogue_model, monkeypatch):
    for targets, space in (([], "embedding"), ([[]], "embedding"), ([[7, END]], "words")):
        with pytest.raises(QueryError):
            next(relax(dialogue_model, targets, space))
    monkeypatch.setattr(descent, "MOST_NUMBERS", 300)
    with pytest.raises(LimitError, match="at most 2 targets"):
        next(relax(dialogue_model, [[7, END]] * 3, "one-hot"))


@pytest.mark.parametrize(
    "settings",
    [
        {"steps": 0},
        {"steps": 10**9},
        {"rate": 0.0},
        {"momentum": 1.0},
        {"decay": -1.0},
        {"penalty": math.inf},
        {"epsilon": 2.0},
    ],
)
def test_settings_without_meaning_are_refused(settings):
    with pytest.raises(QueryError):
        RelaxationSettings(**settings)
