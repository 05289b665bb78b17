"""Training: recipes, losses that fall, and a trainer that continues from a checkpoint exactly."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch

from relens.errors import ModelError, QueryError
from relens.triggers.model.batches import EncodedPairs
from relens.triggers.model.recipe import AUTHORS, PAPER, QUICK, Recipe
from relens.triggers.model.sentence_model import SentenceModel, SentenceModelConfiguration
from relens.triggers.model.seq2seq import Seq2Seq, Seq2SeqConfiguration
from relens.triggers.model.training import (
    Trainer,
    mean_negative_log_likelihood,
    reply_loss,
    sentence_loss,
)
from relens.triggers.model.training_rows import TrainingProgress
from relens.triggers.model.vocabulary import BEGIN, END, END_OF_UTTERANCE, PAD

CPU = torch.device("cpu")
SIZE = 12

#: The reply says the input's last word twice.
PAIRS = EncodedPairs(
    tuple([PAD, 5 + number % 7, 5 + number // 7 % 7, END_OF_UTTERANCE] for number in range(49)),
    tuple([BEGIN, *[5 + number // 7 % 7] * 2, END] for number in range(49)),
)
RECIPE = Recipe(rate=2e-2, epochs=8, batch=7, autocast=False)


def seq2seq(context="last", dropout=0.0):
    torch.manual_seed(0)
    return Seq2Seq(Seq2SeqConfiguration(SIZE, 6, 12, context, dropout))


def trainer(recipe=RECIPE, dropout=0.0, seed=0):
    model = seq2seq(dropout=dropout)
    return Trainer(model, reply_loss(model), PAIRS, recipe, seed, CPU)


def cost(model, loss=reply_loss):
    work = mean_negative_log_likelihood(model, loss(model), PAIRS, CPU)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def test_rates_are_those_of_the_recipes():
    assert [QUICK.rate_at(0, step, 4) for step in range(4)] == pytest.approx([2e-3, 1.5e-3, 1e-3, 0.5e-3])
    two = dataclasses.replace(QUICK, epochs=2)
    assert two.rate_at(1, 0, 4) == pytest.approx(1e-3)
    assert [PAPER.rate_at(epoch, 3, 4) for epoch in (0, 9, 10, 11, 19)] == pytest.approx([1, 1, 0.5, 0.25, 0.5**10])
    assert [AUTHORS.rate_at(epoch, 0, 4) for epoch in (9, 10, 20)] == pytest.approx([1, 0.6, 0.6**11])
    assert (PAPER.epochs, AUTHORS.epochs) == (20, 21)


@pytest.mark.parametrize(
    "settings",
    [
        {"rate": 0.0},
        {"rate": math.nan},
        {"epochs": 0},
        {"batch": 0},
        {"steady": -1},
        {"decay": 0.0},
        {"momentum": 1.0},
        {"weight_decay": -1.0},
        {"clip": 0.0},
    ],
)
def test_recipes_without_meaning_are_refused(settings):
    with pytest.raises(QueryError):
        Recipe(**settings)


@pytest.mark.parametrize("context", ["last", "general", "mlp-query"])
@pytest.mark.parametrize("autocast", [False, True])
def test_a_model_learns_what_there_is_to_learn(context, autocast):
    model = seq2seq(context)
    before = cost(model)
    recipe = dataclasses.replace(RECIPE, epochs=20, rate=4e-2, autocast=autocast)
    work = Trainer(model, reply_loss(model), PAIRS, recipe, 0, CPU)
    for _ in range(recipe.epochs):
        for _ in work.epoch():
            pass
    assert cost(model) < 0.2 * before
    replies = model.greedy(model.encode(torch.tensor([[PAD, 6, 9, END_OF_UTTERANCE]])))
    assert replies == [[9, 9, END]]


def test_sentences_are_learnt_to_their_entropy():
    """The seven sentences are equally likely, and their words follow from the first: log 7 for three words."""
    torch.manual_seed(0)
    model = SentenceModel(SentenceModelConfiguration(SIZE, 6, 12))
    work = Trainer(model, sentence_loss(model), PAIRS, dataclasses.replace(RECIPE, epochs=30, rate=4e-2), 0, CPU)
    for _ in range(30):
        list(work.epoch())
    assert cost(model, sentence_loss) == pytest.approx(math.log(7) / 3, abs=0.05)


def test_stochastic_gradient_descent_learns_too():
    model = seq2seq()
    before = cost(model)
    work = Trainer(model, reply_loss(model), PAIRS, dataclasses.replace(AUTHORS, rate=0.3, batch=7), 0, CPU)
    for _ in range(4):
        list(work.epoch())
    assert cost(model) < 0.7 * before


def test_progress_has_steps_and_time_left():
    work = trainer(dataclasses.replace(RECIPE, batch=10))
    reports = [progress for progress in work.epoch() if progress is not None]
    assert [(progress.epoch, progress.step, progress.steps) for progress in reports] == [
        (1, step, 5) for step in range(1, 6)
    ]
    assert all(progress.loss > 0.0 and progress.words_a_second > 0.0 for progress in reports)
    assert reports[0].seconds_left > 0.0
    assert TrainingProgress.from_json(reports[0].to_json()) == reports[0]
    assert work.done == 1
    last = dataclasses.replace(RECIPE, epochs=1)
    assert [progress.seconds_left for progress in trainer(last).epoch() if progress][-1] == 0.0


def test_the_reported_loss_is_per_word():
    """With a rate of next to nothing, the first epoch's mean loss is that of the untrained model."""
    work = trainer(dataclasses.replace(RECIPE, rate=1e-12, batch=49))
    (report,) = list(work.epoch())
    assert report.loss == pytest.approx(cost(seq2seq()), rel=1e-4)


@pytest.mark.parametrize("dropout", [0.0, 0.4])
@pytest.mark.parametrize("recipe", [RECIPE, dataclasses.replace(AUTHORS, rate=0.3, batch=7)])
def test_training_from_a_checkpoint_is_exact(tmp_path, recipe, dropout):
    one, other = trainer(recipe, dropout), trainer(recipe, dropout)
    list(one.epoch())
    list(other.epoch())
    other.save(tmp_path / "some" / "checkpoint")
    torch.rand(3)  # other draws between
    again = trainer(recipe, dropout, seed=0)
    again.load(tmp_path / "some" / "checkpoint")
    assert again.done == 1
    losses = [[progress.loss for progress in work.epoch() if progress] for work in (one, again)]
    assert losses[0] == losses[1]
    for name, tensor in one.model.state_dict().items():
        assert torch.equal(tensor, again.model.state_dict()[name])
    assert not list((tmp_path / "some").glob("*.part"))


def test_each_seed_has_its_own_losses():
    def losses(seed):
        return [progress.loss for progress in trainer(seed=seed).epoch() if progress]

    assert losses(1) == losses(1)
    assert losses(1) != losses(2)


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path):
    path = tmp_path / "checkpoint"
    with pytest.raises(ModelError):
        trainer().load(path)
    path.write_bytes(b"nothing")
    with pytest.raises(ModelError):
        trainer().load(path)
    model = SentenceModel(SentenceModelConfiguration(SIZE, 6, 12))
    Trainer(model, sentence_loss(model), PAIRS, RECIPE, 0, CPU).save(path)
    with pytest.raises(ModelError):
        trainer().load(path)


def test_a_rate_that_is_too_high_is_refused():
    wild = trainer(dataclasses.replace(AUTHORS, rate=1e38, clip=None, batch=7))
    with pytest.raises(ModelError, match="lower the learning rate"):
        list(wild.epoch())


def test_no_pairs_to_train_or_measure_with_are_refused():
    model, nothing = seq2seq(), EncodedPairs((), ())
    with pytest.raises(QueryError, match="train"):
        Trainer(model, reply_loss(model), nothing, RECIPE, 0, CPU)
    with pytest.raises(QueryError, match="measure"):
        list(mean_negative_log_likelihood(model, reply_loss(model), nothing, CPU))
