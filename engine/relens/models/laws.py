"""The laws of a scorer as assertions, for tests of anything that scores: a tree, a recomputation, a table.

They need no second model, only the scorer itself; an oracle of the numbers is another matter.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from relens.models.scoring import Scorer


def assert_distributions(log_probs: torch.Tensor, scorer: Scorer, nodes: Sequence[int]) -> None:
    """One float32 row a node and one column a token, each row a probability distribution in nats."""
    assert log_probs.dtype is torch.float32
    assert log_probs.shape == (len(nodes), scorer.vocabulary_size)
    assert not torch.isnan(log_probs).any()
    total = torch.logsumexp(log_probs.double(), dim=1)
    assert torch.allclose(total, torch.zeros_like(total), atol=1e-4), "the probabilities do not add up to 1"


def assert_batch_equals_single(scorer: Scorer, nodes: Sequence[int], tolerance: float) -> None:
    """Together, in any order and repeatedly, nodes score as they do alone, within `tolerance` nats."""
    together = scorer.log_probs(nodes)
    assert_distributions(together, scorer, nodes)
    alone = torch.cat([scorer.log_probs([node]) for node in nodes])
    again = scorer.log_probs(list(reversed(nodes))).flip(0)
    for other in (alone, again):
        assert float((together - other).abs().max()) <= tolerance, "a node's scores depend on the other nodes"


def assert_forgetting_is_harmless(scorer: Scorer, nodes: Sequence[int], tolerance: float) -> None:
    """A released node can be scored again, and so can nodes below it."""
    before = scorer.log_probs(nodes)
    scorer.release(nodes)
    assert float((scorer.log_probs(nodes) - before).abs().max()) <= tolerance, "release changed a node's scores"
