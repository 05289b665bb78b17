"""How a model can be scored: with a shared tree of keys and values, or by recomputation. Found out, not looked up.

There are hundreds of architectures, and a table of those that can be scored as a tree would be wrong the day after
tomorrow. What can go wrong is one of three things:

* its cache is no plain list of keys and values, one a token: recurrent states, sliding windows;
* it refuses a mask, or positions, of another's making;
* it takes them, and computes something else: it counts positions itself, or derives a bias from the columns.

The first shows in the cache that it makes, the second is an exception, the third shows in the numbers. So at load a
small tree of random tokens is scored both ways and compared. Log-probabilities of different paths differ by a certain
spread; rounding moves them by a small part of that, a wrong position by much of it. (The tree scorer lays its columns
out newest first, so a model that reads anything into their order fails here and not on some long text.)

A sliding window is no obstacle to texts that fit in it. Windows are thousands of tokens and searches go over tens, so
a long window only shortens the context; a short one is a reason to recompute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

from relens.errors import ModelError
from relens.models.forward import Forward
from relens.models.pool import SlotShape, slot_shape
from relens.models.recompute_scorer import RecomputeScorer
from relens.models.scoring import ROOT, Scorer
from relens.models.tree_scorer import TreeScorer

#: The largest difference between both ways that counts as rounding, as a part of the spread between paths. Measured:
#: rounding is 0.000003, 0.02 to 0.06 and 0.003 to 0.005 of it in these formats, a bias by column 0.5.
TOLERANCE = {torch.float32: 1e-3, torch.bfloat16: 0.15, torch.float16: 0.03}

#: Sliding windows of at least this many tokens are taken as the context.
LONG_WINDOW = 512

#: The tree that is tried, as branches: which earlier branch a branch leaves, at what depth, and how long it goes on.
BRANCHES = ((0, 0, 12), (0, 3, 5), (0, 7, 1), (0, 12, 4), (1, 8, 4), (2, 8, 4), (3, 14, 2), (1, 6, 2))

#: The branches whose ends are scored in one call; later calls build on the pool of earlier ones.
CALLS = ((0,), (1, 2, 3), (4, 5, 6, 7))

TRIAL_SEED = 20231


@dataclass(frozen=True)
class Verdict:
    """How to score: `shape` is what a slot of the key/value pool holds, or None where `reason` says why there is none.

    context_length: the most tokens of a text, a begin-of-text token included, that this way of scoring is right for.
    """

    context_length: int
    shape: SlotShape | None = None
    reason: str = ""


def check_scoring(forward: Forward) -> Verdict:
    """Decide how to score, by trying. Raises `ModelError` for a model that sees tokens which come later."""
    generator = torch.Generator().manual_seed(TRIAL_SEED)
    count = sum(length for _, _, length in BRANCHES)
    tokens = torch.randint(forward.vocabulary_size, (count,), generator=generator).to(forward.device)
    expected = _trial(RecomputeScorer(forward, begin_of_text=None), tokens, [range(len(BRANCHES))])
    tolerance = TOLERANCE[forward.dtype] * float((expected - expected.mean(0)).abs().max())
    _check_causal(forward, tokens, expected[0], tolerance)
    try:
        shape, window = _cached(forward, tokens)
    except _NotAddressableError as error:
        return Verdict(forward.context_length, reason=str(error))
    try:
        scorer = TreeScorer(forward, shape, begin_of_text=None, pool_bytes=2 * count * shape.bytes)
        difference = float((_trial(scorer, tokens, CALLS) - expected).abs().max())
    except Exception as error:  # an architecture may stumble over an unusual mask in any way
        reason = f"it does not take a mask and positions from outside ({type(error).__name__})"
        return Verdict(forward.context_length, reason=reason)
    if not difference <= tolerance:
        reason = f"with shared keys and values its scores were off by {difference:.2g} nats"
        return Verdict(forward.context_length, reason=reason)
    return Verdict(min(forward.context_length, window or forward.context_length), shape)


class _NotAddressableError(Exception):
    """The model's cache is not keys and values, one of each a token and layer."""


def _cached(forward: Forward, tokens: torch.Tensor) -> tuple[SlotShape, int | None]:
    """What the model caches of one token, from a forward over two; and its shortest sliding window, if it has one."""
    if "local" in (getattr(forward.configuration, "attention_layers", None) or ()):
        raise _NotAddressableError("its attention looks back over a sliding window only")
    try:
        cache = DynamicCache(config=forward.configuration)
        forward(tokens[None, :2], past_key_values=cache, use_cache=True)
    except Exception as error:
        raise _NotAddressableError("it does not keep its past as keys and values") from error
    pairs = []
    windows = []
    for layer in cache.layers:
        if type(layer) is DynamicSlidingWindowLayer:
            windows.append(int(layer.sliding_window))
        elif type(layer) is not DynamicLayer:
            raise _NotAddressableError("it keeps its past as a state, not as keys and values")
        pairs.append((layer.keys, layer.values))
    if not pairs or any(keys is None or keys.ndim != 4 for keys, _ in pairs):
        raise _NotAddressableError("it does not keep its past as keys and values")
    if windows and min(windows) < LONG_WINDOW:
        raise _NotAddressableError(f"its attention looks back over a sliding window of {min(windows)} tokens only")
    return slot_shape(pairs), min(windows, default=None)


def _check_causal(forward: Forward, tokens: torch.Tensor, expected: torch.Tensor, tolerance: float) -> None:
    """The scores after the first branch, `expected`, must be the same when other tokens follow it."""
    length = BRANCHES[0][2]
    last = forward.logits(tokens[None, : length + 4])[length - 1]
    if not float((torch.log_softmax(last.float(), dim=-1) - expected).abs().max()) <= tolerance:
        raise ModelError("The model does not continue text: what it expects next depends on what comes later.")


def _trial(scorer: Scorer, tokens: torch.Tensor, calls: Sequence[Sequence[int]]) -> torch.Tensor:
    """Scores after the end of each branch, (branches, vocabulary); the first takes the first of the tokens."""
    remaining = iter(tokens.tolist())
    paths: list[list[int]] = [[ROOT]]
    for number, (origin, depth, length) in enumerate(BRANCHES):
        path = paths[origin][: depth + 1]
        for _ in range(length):
            path.append(scorer.tree.add(path[-1], next(remaining)))
        paths[number:] = [path]
    return torch.cat([scorer.log_probs([paths[branch][-1] for branch in call]) for call in calls])
