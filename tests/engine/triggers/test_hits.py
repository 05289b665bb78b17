"""Hit types: what follows from what, by Hypothesis."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.errors import QueryError
from relens.triggers.hits import HIT_TYPES, HitType, Score, Thresholds
from relens.triggers.model.vocabulary import END

LOG_PROB = st.floats(-20.0, 0.0)
SCORES = st.lists(st.tuples(LOG_PROB, st.floats(-5.0, 5.0)), min_size=1, max_size=8).flatmap(
    lambda pairs: st.builds(
        Score,
        st.just(tuple(pair[0] for pair in pairs)),
        st.just(tuple(pair[1] for pair in pairs)),
        st.lists(LOG_PROB, min_size=1, max_size=6).map(tuple),
        st.just((END,)),
    )
)
THRESHOLDS = st.builds(Thresholds, LOG_PROB, LOG_PROB)
SIDES, KS = st.sampled_from(["o", "io"]), st.integers(1, 9)


@given(SCORES, THRESHOLDS, SIDES, KS)
def test_min_implies_avg(score, thresholds, side, k):
    if score.is_hit(HitType(side, "min", k), thresholds):
        assert score.is_hit(HitType(side, "avg", k), thresholds)


@given(SCORES, THRESHOLDS, SIDES, st.sampled_from(["min", "avg"]), KS)
def test_a_k_implies_a_larger_one(score, thresholds, side, rule, k):
    if score.is_hit(HitType(side, rule, k), thresholds):
        assert score.is_hit(HitType(side, rule, k + 1), thresholds)


@given(SCORES, THRESHOLDS, st.sampled_from(["min", "avg"]), KS)
def test_io_implies_o(score, thresholds, rule, k):
    assert score.margin(HitType("io", rule, k), thresholds) <= score.margin(HitType("o", rule, k), thresholds)


@given(SCORES, THRESHOLDS, THRESHOLDS)
def test_greedy_knows_no_threshold(score, thresholds, others):
    greedy = HitType("o", "greedy")
    assert score.margin(greedy, thresholds) == score.margin(greedy, others)
    assert score.is_hit(greedy, thresholds) == all(lead > 0 for lead in score.leads)


@given(SCORES, THRESHOLDS, KS)
def test_hits_are_as_the_paper_writes_them(score, thresholds, k):
    """Section 4.1, written a second way: by products of probabilities. What is too close to call is passed over."""
    m, n = len(score.token_log_probs), len(score.input_log_probs)
    out, into = math.exp(thresholds.out) / k, math.exp(thresholds.into) / k
    average = math.exp(sum(score.token_log_probs) / m)
    lowest = min(math.exp(value) for value in score.token_log_probs)
    given_input = math.exp(sum(score.input_log_probs) / n)
    for rule, value in (("avg", average), ("min", lowest)):
        if abs(math.log(value / out)) > 1e-9 and abs(math.log(given_input / into)) > 1e-9:
            assert score.is_hit(HitType("o", rule, k), thresholds) == (value > out)
            assert score.is_hit(HitType("io", rule, k), thresholds) == (value > out and given_input > into)


def test_at_the_threshold_there_is_no_hit():
    score = Score((-2.0, -2.0), (0.5, 0.0), (-3.0,), (END,))
    assert not score.is_hit(HitType("o", "min"), Thresholds(-2.0, -3.0))
    assert not score.is_hit(HitType("o", "greedy"), Thresholds(-2.0, -3.0))
    assert not score.is_hit(HitType("io", "avg"), Thresholds(-2.5, -3.0))
    assert score.is_hit(HitType("io", "avg"), Thresholds(-2.5, -3.5))
    assert score.margin(HitType("io", "avg"), Thresholds(-2.5, -3.125)) == 0.125


def test_names_are_those_of_the_paper():
    names = [hit_type.name for hit_type in HIT_TYPES]
    assert names[0] == "o-greedy"
    assert names[1:5] == ["o-sample-min-k1", "o-sample-min-k2", "o-sample-avg-k1", "o-sample-avg-k2"]
    assert names[5:] == ["i" + name for name in names[1:5]]
    assert [HitType.called(name) for name in names] == list(HIT_TYPES)
    assert HitType.called("io-sample-avg-k12") == HitType("io", "avg", 12)
    assert [HitType.from_json(hit_type.to_json()) for hit_type in HIT_TYPES] == list(HIT_TYPES)


@pytest.mark.parametrize("name", ["", "greedy", "io-greedy", "o-sample-min", "o-sample-max-k1", "o-sample-min-k0"])
def test_other_names_are_refused(name):
    with pytest.raises(QueryError):
        HitType.called(name)


@pytest.mark.parametrize(
    "build",
    [
        lambda: HitType("io", "greedy"),
        lambda: HitType("o", "greedy", 2),
        lambda: HitType("o", "min", 0),
        lambda: Thresholds(0.5, -1.0),
        lambda: Thresholds(-1.0, math.nan),
    ],
)
def test_bad_values_are_refused(build):
    with pytest.raises(QueryError):
        build()
