"""The fast scorer against the plain one, and the plain one against single evaluations by `evaluate`."""

from __future__ import annotations

import pytest
import torch

from relens.triggers.hits import HitType, Thresholds
from relens.triggers.model.vocabulary import BEGIN, END, END_OF_UTTERANCE, FORBIDDEN
from relens.triggers.objective import Objective
from relens.triggers.search.fast_scorer import FastScorer
from relens.triggers.search.scorer import TOLERANCE, PlainScorer, shortlist
from tests.engine.triggers.conftest import SIZE, random_sentence_model, random_seq2seq
from tests.engine.triggers.oracle import evaluate

pytestmark = pytest.mark.heavy

LENGTH = 7
NAMES = ["o-greedy", "o-sample-min-k1", "o-sample-avg-k2", "io-sample-min-k1", "io-sample-avg-k1"]


def drawn(rows: int, words: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    sources = torch.randint(5, SIZE, (rows, LENGTH), generator=generator)
    sources[:, -1] = END_OF_UTTERANCE
    targets = torch.randint(5, SIZE, (rows, words + 2), generator=generator)
    targets[:, 0], targets[:, -1] = BEGIN, END
    return sources, targets


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", NAMES)
def test_both_find_the_same_best_word(seq2seq, name, seed):
    sentence_model = random_sentence_model(seed)
    objective = Objective(HitType.called(name), Thresholds(-3.5, -3.35), (0.0, 0.01)[seed % 2])
    plain, fast = (
        PlainScorer(seq2seq, sentence_model, objective),
        FastScorer(seq2seq, sentence_model, objective, exact=3 + seed),
    )
    sources, targets = drawn(6, 1 + seed, seed)
    values = plain.values(sources, targets)
    spared = 0
    for place in range(LENGTH - 1):
        slopes = plain.problem(targets).first_order(sources[:, :-1])
        words = shortlist(slopes.estimated_gain(place), sources[:, place], 14)
        expected = plain.best(sources, targets, values, place, words)
        best = fast.best(sources, targets, values, place, words)
        assert best.words.tolist() == expected.words.tolist()
        assert best.values.tolist() == pytest.approx(expected.values.tolist(), abs=1e-5)
        spared += int(expected.full.sum() - best.full.sum())
        sources[:, place], values = expected.words, expected.values  # as a search goes on
    assert spared > 0


@pytest.mark.parametrize("name", NAMES)
def test_the_best_word_is_the_best_of_all_tried_one_by_one(name):
    seq2seq, sentence_model = random_seq2seq("general", 5), random_sentence_model(5)
    objective = Objective(HitType.called(name), Thresholds(-3.5, -3.35), 0.1, 0.6, 0.3)
    scorer = PlainScorer(seq2seq, sentence_model, objective)
    sources, targets = drawn(2, 3, 9)
    values = scorer.values(sources, targets)
    words = torch.arange(5, SIZE).repeat(2, 1)
    best = scorer.best(sources, targets, values, 2, words)
    for row in range(2):
        tried = {}
        for word in words[row].tolist():
            changed = sources[row : row + 1].clone()
            changed[:, 2] = word
            (score,) = evaluate(seq2seq, sentence_model, changed, [targets[row, 1:].tolist()])
            costs, first = -torch.tensor(score.token_log_probs), torch.tensor(score.leads) > 0.0
            value = objective.of_reply(costs, first)
            if objective.scores_inputs:
                value = value + objective.of_input(torch.tensor(-score.input_average))
            tried[word] = float(value)
        assert float(best.values[row]) == pytest.approx(min(*tried.values(), float(values[row])), abs=1e-5)
        assert tried[int(best.words[row])] == pytest.approx(float(best.values[row]), abs=1e-5)


@pytest.mark.parametrize("scorer_class", [PlainScorer, FastScorer])
def test_no_better_word_changes_nothing(scorer_class, seq2seq, sentence_model):
    scorer = scorer_class(seq2seq, sentence_model, Objective(HitType("io"), Thresholds(-3.0, -3.3)))
    sources, targets = drawn(3, 2, 0)
    values = scorer.values(sources, targets)
    same = scorer.best(sources, targets, values, 1, sources[:, 1:2])
    assert same.words.tolist() == sources[:, 1].tolist()
    assert same.values.tolist() == values.tolist()
    # Nor does what is known to be far worse than what is there.
    none = scorer.best(sources, targets, torch.zeros(3), 1, torch.arange(5, 15).repeat(3, 1))
    assert none.words.tolist() == sources[:, 1].tolist()
    if scorer_class is FastScorer:
        assert int(none.full.sum()) == 0
    worst = values + TOLERANCE / 2  # a gain that is only rounding
    assert scorer.best(sources, targets, worst, 1, sources[:, 1:2]).values.tolist() == worst.tolist()


def test_parts_do_not_change_the_answer(seq2seq, sentence_model, monkeypatch):
    objective = Objective(HitType("io", "min"), Thresholds(-3.5, -3.35))
    sources, targets = drawn(5, 3, 1)
    words = torch.arange(5, 25).repeat(5, 1)
    whole = PlainScorer(seq2seq, sentence_model, objective)
    values = whole.values(sources, targets)
    expected = whole.best(sources, targets, values, 3, words)
    monkeypatch.setattr("relens.triggers.model.dialogue_losses.MOST_LOGITS", 3 * SIZE * LENGTH)
    monkeypatch.setattr("relens.triggers.search.fast_scorer.MOST_LOGITS", 3 * SIZE * LENGTH)
    monkeypatch.setattr("relens.triggers.search.fast_scorer.MOST_WORDS", 7)
    for scorer in (whole, FastScorer(seq2seq, sentence_model, objective, exact=4)):
        best = scorer.best(sources, targets, values, 3, words)
        assert best.words.tolist() == expected.words.tolist()
        assert best.values.tolist() == pytest.approx(expected.values.tolist(), abs=1e-5)


@pytest.mark.parametrize("name", ["o-greedy", "io-sample-avg-k1"])
def test_kept_states_do_not_change_the_answers(seq2seq, sentence_model, name):
    """Rows that change, go, come back, stand elsewhere or have another target, between one question and the next."""
    objective = Objective(HitType.called(name), Thresholds(-3.5, -3.35), 0.01)
    fast = FastScorer(seq2seq, sentence_model, objective, exact=4)
    sources, targets = drawn(6, 3, 1)
    for seed, rows in enumerate([[0, 1, 2, 3], [0, 1, 2, 3], [3, 1], [1, 3, 5, 4, 0], [2], [2, 2, 1]]):
        if seed % 2:
            sources[rows[0], seed % LENGTH] = 6 + seed
            targets[rows[-1], 2] = 7 + seed
        words = torch.arange(5, 20).repeat(len(rows), 1)
        inputs = sources[rows], targets[rows]
        values = fast.values(*inputs)
        best = fast.best(*inputs, values, seed, words)
        expected = FastScorer(seq2seq, sentence_model, objective, exact=4).best(*inputs, values, seed, words)
        plain = PlainScorer(seq2seq, sentence_model, objective).best(*inputs, values, seed, words)
        assert best.words.tolist() == expected.words.tolist() == plain.words.tolist()
        assert best.full.tolist() == expected.full.tolist()
        assert best.values.tolist() == pytest.approx(plain.values.tolist(), abs=1e-5)


@pytest.mark.parametrize("close", [0.0, 0.5])
@pytest.mark.parametrize("name", ["o-sample-min-k1", "io-sample-avg-k1"])
def test_close_words_are_evaluated_plainly(seq2seq, sentence_model, name, close, monkeypatch):
    monkeypatch.setattr("relens.triggers.search.fast_scorer.CLOSE", close)
    objective = Objective(HitType.called(name), Thresholds(-3.5, -3.35))
    fast, plain = (scorer(seq2seq, sentence_model, objective) for scorer in (FastScorer, PlainScorer))
    looked = []
    monkeypatch.setattr(fast, "values", lambda *inputs: looked.append(len(inputs[0])) or plain.values(*inputs))
    sources, targets = drawn(6, 2, 4)
    values = plain.values(sources, targets)
    words = torch.arange(5, 25).repeat(6, 1)
    best, expected = (scorer.best(sources, targets, values, 2, words) for scorer in (fast, plain))
    assert best.words.tolist() == expected.words.tolist()
    assert best.values.tolist() == pytest.approx(expected.values.tolist(), abs=1e-5)
    assert bool(looked) == (close > 0.0)
    if looked:  # a few words a row, not all of them
        assert 2 <= sum(looked) < words.numel()


def test_a_shortlist_has_the_best_words_that_may_stand_there():
    gain = torch.randn(4, SIZE, generator=torch.Generator().manual_seed(0))
    gain[:, list(FORBIDDEN)] = 50.0
    present = torch.tensor([7, 8, 9, 10])
    words = shortlist(gain, present, 6)
    for row in range(4):
        allowed = [word for word in range(SIZE) if word not in FORBIDDEN and word != int(present[row])]
        best = sorted(allowed, key=lambda word: -float(gain[row, word]))[:6]
        assert words[row].tolist() == best
    assert shortlist(gain, present, 10_000).shape == (4, SIZE - len(FORBIDDEN) - 1)
