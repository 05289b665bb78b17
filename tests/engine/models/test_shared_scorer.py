"""Views of one scorer: each scores as if alone, paths in common are computed once, and are let go by the last."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.models.check import check_scoring
from relens.models.laws import assert_batch_equals_single, assert_forgetting_is_harmless
from relens.models.scoring import ROOT
from relens.models.shared_scorer import SharedScorer
from relens.models.tree_scorer import TreeScorer
from tests.engine.models.tiny import BEGIN, VOCABULARY, forward, grow, oracle

TREES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, VOCABULARY - 1)), min_size=1, max_size=20)


def shared(slots: int = 512) -> SharedScorer:
    network = forward("llama", torch.float32)
    shape = check_scoring(network).shape
    assert shape is not None
    return SharedScorer(TreeScorer(network, shape, begin_of_text=BEGIN, pool_bytes=slots * shape.bytes))


@settings(max_examples=20)
@given(trees=st.lists(TREES, min_size=1, max_size=3), data=st.data())
def test_each_view_scores_like_a_model_of_its_own(trees, data):
    scorer = shared()
    views = [scorer.view() for _ in trees]
    grown = [grow(view.tree, steps) for view, steps in zip(views, trees, strict=True)]
    released = False
    for _ in range(3):
        number = data.draw(st.integers(0, len(views) - 1))
        chosen = data.draw(st.lists(st.sampled_from(grown[number]), min_size=1, max_size=5))
        scores = views[number].log_probs(chosen)
        difference = (scores - oracle("llama", views[number], chosen, BEGIN, torch.float32)).abs().max()
        assert float(difference) <= 1e-4
        if data.draw(st.booleans()):
            views[number].release(chosen)
            released = True
    for view in views:
        view.close()
    assert scorer.held_tokens == 0
    if not released:  # a released node that is needed again, for one below it, is only evicted
        assert scorer.scorer.resident_tokens <= 1  # the root is never let go


def test_the_laws_of_a_scorer_hold_for_a_view():
    view = shared().view()
    nodes = grow(view.tree, [(0, 3), (1, 4), (1, 5), (2, 3)])
    assert_batch_equals_single(view, nodes, 1e-4)
    assert_forgetting_is_harmless(view, nodes, 1e-4)


def test_paths_in_common_are_one():
    scorer = shared()
    one, other = scorer.view(), scorer.view()
    for view in (one, other):
        first = view.tree.add(ROOT, 3)
        for token in (4, 4, 5):  # the same pair twice is two nodes of the view and one place
            view.tree.add(first, token)
    assert one.places([1, 2, 3, 4]).tolist() == other.places([1, 2, 3, 4]).tolist()
    assert len(set(one.places([1, 2, 3, 4]).tolist())) == 3
    one.log_probs([2])
    computed = scorer.counts.tokens_computed
    other.log_probs([2])
    assert scorer.counts.tokens_computed == computed + 1
    one.close()
    assert scorer.held_tokens == 3
    other.release([3, 4])
    assert scorer.held_tokens == 2
    other.close()
    assert scorer.held_tokens == 0


@pytest.mark.parametrize("order", [0, 1])
def test_a_released_node_may_come_back(order):
    scorer = shared()
    one, other = scorer.view(), scorer.view()
    for view in (one, other):
        view.tree.add(view.tree.add(ROOT, 3), 4)
    before = one.log_probs([2])
    other.log_probs([1])
    for view in (one, other)[:: 1 if order else -1]:
        view.release([1, 2])
    assert torch.allclose(one.log_probs([2]), before, atol=1e-4)
