"""The objective against the equations written out word by word, and that it never falls where a cost rises."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from relens.errors import QueryError
from relens.triggers.hits import HIT_TYPES, HitType, Score, Thresholds
from relens.triggers.objective import Objective

COSTS = st.lists(st.tuples(st.floats(0.0, 12.0), st.booleans()), min_size=1, max_size=7)
OBJECTIVES = st.builds(
    Objective,
    st.sampled_from(HIT_TYPES),
    st.builds(Thresholds, st.floats(-6.0, -1.0), st.floats(-6.0, -1.0)),
    st.sampled_from([0.0, 0.01, 0.5, 1.0]),
    st.floats(0.0, 3.0),
    st.sampled_from([0.0, 0.01, 1.0]),
)


def written_out(objective: Objective, costs: list[float], first: list[bool], input_cost: float) -> float:
    hit_type, slack = objective.hit_type, math.log(objective.hit_type.k)
    total = 0.0
    for cost, is_first in zip(costs, first, strict=True):
        reached = is_first if hit_type.rule == "greedy" else -cost > objective.thresholds.out - slack
        if hit_type.rule == "avg":
            reached = -sum(costs) / len(costs) > objective.thresholds.out - slack
        total += (objective.epsilon if reached else 1.0) * cost
    value = total / len(costs)
    if hit_type.side == "io":
        reached = -input_cost > objective.thresholds.into - slack
        value += objective.input_weight * (objective.input_epsilon if reached else 1.0) * input_cost
    return value


def far_from_thresholds(objective: Objective, costs: list[float], input_cost: float) -> bool:
    """Whether rounding to float32 cannot change what is reached."""
    slack = math.log(objective.hit_type.k)
    pairs = [(cost, objective.thresholds.out) for cost in (*costs, sum(costs) / len(costs))]
    return all(abs(-cost - value + slack) > 1e-4 for cost, value in [*pairs, (input_cost, objective.thresholds.into)])


def value(objective: Objective, costs: list[float], first: list[bool], input_cost: float) -> float:
    found = objective.of_reply(torch.tensor([costs]), torch.tensor([first]))
    if objective.scores_inputs:
        found = found + objective.of_input(torch.tensor([input_cost]))
    return float(found)


@given(OBJECTIVES, COSTS, st.floats(0.0, 12.0))
def test_it_is_as_the_equations_have_it(objective, words, input_cost):
    costs, first = [word[0] for word in words], [word[1] for word in words]
    if far_from_thresholds(objective, costs, input_cost):
        expected = written_out(objective, costs, first, input_cost)
        assert value(objective, costs, first, input_cost) == pytest.approx(expected, rel=1e-5, abs=1e-6)


@given(OBJECTIVES, COSTS, st.floats(0.0, 12.0), st.lists(st.floats(0.0, 3.0), min_size=7, max_size=7), st.booleans())
def test_lower_costs_never_cost_more(objective, words, input_cost, less, is_first):
    """What makes a bound of costs a bound of the objective; a word may be thought to come first that does not."""
    costs, first = [word[0] for word in words], [word[1] for word in words]
    lower = [max(0.0, cost - by) for cost, by in zip(costs, less, strict=False)]
    maybe = [one or is_first for one in first]
    below = value(objective, lower, maybe, max(0.0, input_cost - less[0]))
    assert below <= value(objective, costs, first, input_cost) + 1e-5


@given(OBJECTIVES, COSTS, st.floats(0.0, 12.0))
def test_with_epsilon_0_a_hit_costs_nothing(objective, words, input_cost):
    if (
        objective.epsilon
        or objective.input_epsilon
        or not far_from_thresholds(objective, [w[0] for w in words], input_cost)
    ):
        return
    costs, first = [word[0] for word in words], [word[1] for word in words]
    score = Score(tuple(-cost for cost in costs), tuple(1.0 if one else -1.0 for one in first), (-input_cost,), (0,))
    if score.is_hit(objective.hit_type, objective.thresholds):
        assert value(objective, costs, first, input_cost) == 0.0


def test_gradients_see_the_weights():
    objective = Objective(HitType("o", "min"), Thresholds(-3.0, -3.0), 0.01)
    weights = objective.word_weights(torch.tensor([[2.0, 4.0]]), torch.tensor([[False, True]]))
    assert weights[0].tolist() == pytest.approx([0.005, 0.5])
    greedy = Objective(HitType("o", "greedy"), Thresholds(-3.0, -3.0), 0.0)
    assert greedy.word_weights(torch.tensor([[2.0, 4.0]]), torch.tensor([[False, True]])).tolist() == [[0.5, 0.0]]


@pytest.mark.parametrize(
    "settings", [{"epsilon": -0.1}, {"epsilon": math.nan}, {"input_epsilon": 2.0}, {"input_weight": math.inf}]
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(QueryError):
        Objective(HitType(), Thresholds(-1.0, -1.0), **settings)
