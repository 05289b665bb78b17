"""Recomputation against transformers, one path at a time."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.errors import ModelError
from relens.models.laws import assert_batch_equals_single, assert_forgetting_is_harmless
from relens.models.recompute_scorer import RecomputeScorer
from relens.models.scoring import ROOT
from tests.engine.models.tiny import BEGIN, CONTEXT, VOCABULARY, forward, grow, oracle

TREES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, VOCABULARY - 1)), min_size=1, max_size=25)


@pytest.mark.parametrize("name", ["llama", "mamba", "rwkv"])
@pytest.mark.parametrize("begin", [None, BEGIN])
@settings(max_examples=8, deadline=None)
@given(steps=TREES)
def test_every_node_of_random_trees(name: str, begin: int | None, steps: list[tuple[int, int]]) -> None:
    scorer = RecomputeScorer(forward(name), begin_of_text=begin)
    nodes = grow(scorer.tree, steps)
    difference = (scorer.log_probs(nodes) - oracle(name, scorer, nodes, begin, torch.float32)).abs().max()
    assert float(difference) < 1e-4


@settings(max_examples=15, deadline=None)
@given(TREES, st.integers(1, 60))
def test_the_laws_of_a_scorer(steps: list[tuple[int, int]], tokens_at_once: int) -> None:
    scorer = RecomputeScorer(forward("gpt2"), begin_of_text=BEGIN, tokens_at_once=tokens_at_once)
    nodes = grow(scorer.tree, steps)
    assert_batch_equals_single(scorer, [*nodes[::3], ROOT, nodes[0]], 1e-4)
    assert_forgetting_is_harmless(scorer, nodes[::2], 1e-4)


def test_counts_every_token_of_every_path() -> None:
    scorer = RecomputeScorer(forward("gpt2"), begin_of_text=BEGIN)
    nodes = grow(scorer.tree, [(0, 1), (0, 2), (1, 3)])
    scorer.log_probs(nodes)
    # Depths 1, 2 and 2, each with a begin-of-text token; one forward a depth.
    assert (scorer.counts.tokens_computed, scorer.counts.forwards) == (2 + 3 + 3, 2)
    assert scorer.counts.seconds > 0.0


def test_refusals() -> None:
    scorer = RecomputeScorer(forward("gpt2"), begin_of_text=None)
    assert not scorer.scores_root
    with pytest.raises(ModelError, match="no distribution at the start"):
        scorer.log_probs([ROOT])
    chain = grow(scorer.tree, [(0, 1)] * (CONTEXT + 1))
    with pytest.raises(ModelError, match="longer than the model's context"):
        scorer.log_probs([chain[-1]])
