"""Both searches: exact counts, seeds, what they report, and that they get somewhere."""

from __future__ import annotations

import itertools

import pytest
import torch

from relens.errors import LimitError, QueryError
from relens.triggers.causal.coordinate import CoordinateSearch
from relens.triggers.causal.gcg import GreedyCoordinateGradient
from relens.triggers.causal.losses import CausalLosses
from relens.triggers.causal.trial import Trial
from tests.engine.triggers.causal.conftest import make_trial

pytestmark = pytest.mark.heavy

SEARCHES = (
    CoordinateSearch(shortlist=8, averaged=3, averaged_until=60, temperature=0.1),
    CoordinateSearch(shortlist=8, averaged=1, temperature=0.0, kick=1.0, tries_again=True),
    GreedyCoordinateGradient(batch=16, top=8),
)


def searched(search, trial: Trial) -> Trial:
    for _ in search.steps(trial):
        pass
    return trial


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("evaluations", [1, 2, 50, 133])
def test_evaluations_are_counted_exactly(tiny, search, evaluations, monkeypatch):
    trial = make_trial(tiny, evaluations=evaluations)
    rows = []
    plain = CausalLosses.of_embeddings
    monkeypatch.setattr(
        CausalLosses, "of_embeddings", lambda losses, read: rows.append(len(read)) or plain(losses, read)
    )
    searched(search, trial)
    assert trial.evaluations == sum(rows) == evaluations
    assert trial.left == 0
    assert 0 <= trial.gradients <= evaluations


@pytest.mark.parametrize("search", SEARCHES)
def test_a_seed_gives_the_same_search_again(tiny, search):
    first, again, other = (searched(search, make_trial(tiny, seed=seed)) for seed in (4, 4, 5))
    assert (first.best, first.curve, first.dropped) == (again.best, again.curve, again.dropped)
    assert first.best != other.best


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("hit_type", ["o-greedy", "io-sample-min-k2", "o-sample-avg-k1"])
def test_reported_numbers_are_those_of_the_model(model, search, hit_type):
    trial = searched(search, make_trial(model, hit_type, evaluations=120, epsilon=0.01))
    assert trial.prompt.survives(trial.best)
    costs = trial.losses.plainly(trial.best)
    value = trial.objective.of_reply(costs.costs, costs.leads > 0.0)
    if trial.objective.scores_inputs:
        value = value + trial.objective.of_input(trial.inputs.mean_costs(torch.tensor([trial.best])))
    assert trial.value == pytest.approx(float(value), abs=2e-3)
    evaluations, values = zip(*trial.curve, strict=True)
    assert list(evaluations) == sorted(evaluations)
    assert all(later < earlier for earlier, later in itertools.pairwise(values))
    assert values[-1] == trial.value < values[0]


@pytest.mark.parametrize("search", SEARCHES)
def test_a_search_beats_as_many_random_triggers(chat_model, search):
    trial = searched(search, make_trial(chat_model, evaluations=200))
    drawn = make_trial(chat_model, evaluations=200, seed=1)
    drawn.values([drawn.first() for _ in range(200)])
    assert trial.value < drawn.value


def test_one_visit_takes_the_best_of_the_shortlist(tiny):
    """Against all tokens at the place, one by one, where the shortlist is long enough for all."""
    search = CoordinateSearch(shortlist=400, averaged=1, temperature=0.0)
    trial = make_trial(tiny, evaluations=1000)
    steps = search.steps(trial)
    start = make_trial(tiny).first()
    next(steps)
    others = [(token, *start[1:]) for token in trial.prompt.allowed]
    least = min(
        float(trial.losses.plainly(trigger).costs.mean()) for trigger in others if trial.prompt.survives(trigger)
    )
    assert trial.value == pytest.approx(least, abs=2e-4)


def test_gradients_are_kept_only_while_they_hold(tiny):
    keeps_gradients_while_they_hold(make_trial(tiny, evaluations=1000), make_trial(tiny, evaluations=1000))


def keeps_gradients_while_they_hold(trial: Trial, plain: Trial) -> None:
    """Against Algorithm 1 written out, with a gradient of its own for every visit."""
    search = CoordinateSearch(shortlist=4, averaged=1, temperature=0.0, tries_again=True)
    steps, free = search.steps(trial), plain.prompt.free
    present = plain.first()
    (value,) = plain.values([present])
    visits = 3 * free
    for visit in range(visits):
        place = visit % free
        plain.losses.hold(present, place)
        order = plain.estimated_gain(plain.first_order([present]), place).argsort(descending=True).tolist()
        tried = [(*present[:place], token, *present[place + 1 :]) for token in order if token != present[place]]
        candidates = plain.surviving(tried, search.shortlist)
        found, candidate = min(zip(plain.values(candidates), candidates, strict=True))
        if found < value:
            present, value = candidate, found
        next(steps)
        assert trial.best == present
        assert trial.value == pytest.approx(value, abs=1e-4)
    assert trial.gradients < plain.gradients == visits


@pytest.mark.parametrize("tries_again", [False, True])
def test_nothing_is_tried_twice(tiny, monkeypatch, tries_again):
    rows = []
    plain = Trial.values
    monkeypatch.setattr(Trial, "values", lambda trial, triggers: rows.extend(triggers) or plain(trial, triggers))
    search = CoordinateSearch(shortlist=6, temperature=0.2, tries_again=tries_again)
    trial = searched(search, make_trial(tiny, evaluations=1500))
    again = len(rows) - len(set(rows))
    # A restart may happen to draw what was tried.
    assert again > 100 if tries_again else again <= trial.restarts
    assert len(rows) + trial.gradients == 1500


def test_a_search_goes_back_to_the_best(tiny, monkeypatch):
    """A sweep begins at the best whenever the one before brought nothing better."""
    begins = []
    plain = CoordinateSearch._visit

    def visit(search, trial, kept, tried, present, value, place):
        if place == 0:
            begins.append((present, value, trial.best, trial.value, trial.restarts))
        return plain(search, trial, kept, tried, present, value, place)

    monkeypatch.setattr(CoordinateSearch, "_visit", visit)
    searched(CoordinateSearch(shortlist=2, temperature=5.0), make_trial(tiny, evaluations=1500))
    back = [
        later
        for earlier, later in itertools.pairwise(begins)
        if later[3] == earlier[3] and later[4] == earlier[4]  # nothing better, and no restart
    ]
    assert back
    assert all((present, value) == (best, least) for present, value, best, least, _ in back)


@pytest.mark.parametrize("tries_again", [False, True])
def test_a_stalled_search_begins_again(tiny, tries_again):
    search = CoordinateSearch(shortlist=1, averaged=1, temperature=0.0, tries_again=tries_again)
    trial = searched(search, make_trial(tiny, evaluations=1500))
    assert trial.restarts > 0
    assert trial.evaluations == 1500


def test_dropped_candidates_are_counted_and_never_tried(tiny):
    trial = make_trial(tiny)
    start = trial.first()
    candidates = [(*start[:2], token, *start[3:]) for token in trial.prompt.allowed]
    kept = trial.surviving(candidates, len(candidates))
    assert trial.dropped == len(candidates) - len(kept) > 0
    assert all(trial.prompt.survives(trigger) for trigger in kept)
    assert trial.evaluations == 0


def test_hits_are_seen_during_the_search(tiny):
    trial = searched(SEARCHES[0], make_trial(tiny, "o-sample-min-k1", out=-50.0))
    assert trial.hit is not None
    assert float(trial.losses.plainly(trial.hit).costs.max()) < 50.0
    assert searched(SEARCHES[0], make_trial(tiny, "o-sample-min-k1", out=-0.001)).hit is None


def test_settings_without_meaning_are_refused(tiny):
    for wrong in ({"shortlist": 0}, {"averaged": 0}, {"temperature": -1.0}, {"kick": 0.0}, {"averaged_until": -1}):
        with pytest.raises(QueryError):
            CoordinateSearch(**wrong)
    with pytest.raises(QueryError):
        GreedyCoordinateGradient(batch=0)
    for evaluations in (0, 1_000_001):
        with pytest.raises(LimitError, match="evaluations"):
            make_trial(tiny, evaluations=evaluations)
