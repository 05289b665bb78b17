"""Each architecture ends up right, by the tree where that works and by recomputation where it does not."""

import pytest
import torch

from relens.errors import ModelError
from relens.models.check import check_scoring
from relens.models.recompute_scorer import RecomputeScorer
from relens.models.scoring import Scorer
from relens.models.tree_scorer import TreeScorer
from tests.engine.models.tiny import BEGIN, VOCABULARY, forward, grow, oracle

TREE = ["gpt2", "llama", "qwen2", "mistral", "long window"]
RECOMPUTED = {
    "short window": "sliding window of 4 tokens",
    "alibi": "off by",
    "mamba": "a state, not as keys and values",
    "rwkv": "does not keep its past as keys and values",
}
STEPS = [(number * 5 % 7, number * 11 % VOCABULARY) for number in range(50)]


def chosen_scorer(name: str, dtype: torch.dtype) -> Scorer:
    verdict = check_scoring(forward(name, dtype))
    if verdict.shape is None:
        return RecomputeScorer(forward(name, dtype), begin_of_text=BEGIN)
    return TreeScorer(forward(name, dtype), verdict.shape, begin_of_text=BEGIN, pool_bytes=1 << 20)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", TREE)
def test_plain_attention_is_scored_as_a_tree(name: str, dtype: torch.dtype) -> None:
    verdict = check_scoring(forward(name, dtype))
    assert verdict.shape is not None, verdict.reason
    assert verdict.shape.dtype is dtype


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", RECOMPUTED)
def test_the_others_are_recomputed_and_say_why(name: str, dtype: torch.dtype) -> None:
    verdict = check_scoring(forward(name, dtype))
    assert verdict.shape is None
    assert RECOMPUTED[name] in verdict.reason


@pytest.mark.parametrize("name", [*TREE, *RECOMPUTED])
def test_the_chosen_way_is_right(name: str) -> None:
    scorer = chosen_scorer(name, torch.float32)
    nodes = grow(scorer.tree, STEPS)
    scores = torch.cat([scorer.log_probs(nodes[start : start + 13]) for start in range(0, len(nodes), 13)])
    difference = (scores - oracle(name, scorer, nodes, BEGIN, torch.float32)).abs().max()
    assert float(difference) < 1e-3


def test_a_long_window_becomes_the_context() -> None:
    assert check_scoring(forward("long window")).context_length == 520


def test_an_encoder_is_refused() -> None:
    with pytest.raises(ModelError, match="does not continue text"):
        check_scoring(forward("encoder"))
