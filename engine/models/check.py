"""How a model can be scored: with a shared tree of keys and values, or by recomputation. Found out, not looked up.

There are hundreds of architectures, and a table of those that can be scored as a tree would be wrong the day after
tomorrow. What can go wrong is one of three things:

* its cache is no plain list of keys and values, one a token: recurrent states, sliding windows;
* it refuses a mask, or positions, of another's making;
* it takes them, and computes something else: it counts positions itself, or derives a bias from the columns.

The first shows in the cache that it makes, the second is an exception, the third shows in the numbers. So at load a
small tree of random tokens is scored both ways and compared. Log-probabilities of different paths differ by a certain
spread; rounding moves them by a small part of that, a wrong position by much of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from transformers.cache_utils import DynamicCache, DynamicLayer

from engine.errors import ModelError
from engine.models.forward import Forward
from engine.models.pool import SlotShape, slot_shape
from engine.models.recompute_scorer import RecomputeScorer
from engine.models.scoring import ROOT, Scorer
from engine.models.tree_scorer import TreeScorer

#: The largest difference between both ways that counts as rounding, as a part of the spread between paths.
TOLERANCE = {torch.float32: 1e-3, torch.bfloat16: 0.1, torch.float16: 0.02}

#: Parents of the nodes 1, 2, ... of the tree that is tried: a chain, brothers, and cousins at different depths.
TRIAL_PARENTS = (0, 1, 2, 3, 3, 2, 6, 1, 8, 8, 0, 11)

TRIAL_SEED = 20231


@dataclass(frozen=True)
class Verdict:
    """`shape` is what a slot of the key/value pool must hold, or None where `reason` says why there is no pool."""

    shape: SlotShape | None
    reason: str = ""


def check_scoring(forward: Forward) -> Verdict:
    """Decide how to score, by trying. Raises `ModelError` for a model that sees tokens which come later."""
    tokens = _trial_tokens(forward)
    expected = _trial(RecomputeScorer(forward, begin_of_text=None), tokens)
    spread = float((expected - expected.mean(0)).abs().max())
    tolerance = TOLERANCE[forward.dtype] * spread
    _check_causal(forward, tokens, expected, tolerance)
    try:
        shape = _slot_shape(forward)
    except _NotAddressableError as error:
        return Verdict(None, str(error))
    try:
        found = _trial(TreeScorer(forward, shape, begin_of_text=None, pool_bytes=64 * shape.bytes), tokens)
    except Exception as error:  # an architecture may stumble over an unusual mask in any way
        return Verdict(None, f"it does not take a mask and positions from outside ({type(error).__name__})")
    difference = float((found - expected).abs().max())
    if not difference <= tolerance:
        return Verdict(None, f"with shared keys and values its scores were off by {difference:.2g} nats")
    return Verdict(shape)


class _NotAddressableError(Exception):
    """The model's cache is not keys and values, one of each a token and layer."""


def _slot_shape(forward: Forward) -> SlotShape:
    """What the model caches of one token, from a forward over two tokens."""
    try:
        cache = DynamicCache(config=forward.configuration)
        forward(_trial_tokens(forward)[None, :2], past_key_values=cache, use_cache=True)
    except Exception as error:
        raise _NotAddressableError("it does not keep its past as keys and values") from error
    if any(layer.is_sliding for layer in cache.layers if isinstance(layer, DynamicLayer)):
        raise _NotAddressableError("its attention looks back over a sliding window only")
    pairs = []
    for layer in cache.layers:
        if type(layer) is not DynamicLayer or layer.keys is None or layer.keys.ndim != 4 or layer.keys.shape[2] != 2:
            raise _NotAddressableError("it keeps its past as a state, not as keys and values")
        pairs.append((layer.keys, layer.values))
    if not pairs:
        raise _NotAddressableError("it does not keep its past as keys and values")
    return slot_shape(pairs)


def _check_causal(forward: Forward, tokens: torch.Tensor, expected: torch.Tensor, tolerance: float) -> None:
    """The scores after a token must not depend on the token that comes next."""
    chain = tokens[[0, 1, 2, 3]]
    logits = forward.logits(chain[None])
    early = torch.log_softmax(logits[:3].float(), dim=-1)
    if not float((early - expected[:3]).abs().max()) <= tolerance:
        raise ModelError("The model does not continue text: what it expects next depends on what comes later.")


def _trial(scorer: Scorer, tokens: torch.Tensor) -> torch.Tensor:
    """Scores after each node of the trial tree, in three calls so that later ones lean on earlier ones."""
    nodes = [ROOT]
    for parent, token in zip(TRIAL_PARENTS, tokens.tolist(), strict=True):
        nodes.append(scorer.tree.add(nodes[parent], token))
    parts: Sequence[Sequence[int]] = (nodes[1:3], nodes[3:6], nodes[6:])
    return torch.cat([scorer.log_probs(part) for part in parts])


def _trial_tokens(forward: Forward) -> torch.Tensor:
    generator = torch.Generator().manual_seed(TRIAL_SEED)
    return torch.randint(forward.vocabulary_size, (len(TRIAL_PARENTS),), generator=generator).to(forward.device)
