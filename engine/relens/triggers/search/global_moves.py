"""Moves anywhere in the input by one gradient, to compare with: one at a step, or many at once.

`enumeration_step`: of all words at all places the best by the gradient are tried in full, and the best one stays.

    [are] you at the office   -> move             4.1
    are you at the [office]   -> are you at the stupid    3.9   <- accepted

One gradient serves all places, and one word changes a step; gibbs-enum takes a gradient for each place. Greedy
coordinate gradient search (GCG) has the same step, but draws the words to try in place of ranking them.

`flips_step`: the best moves by the gradient, at different places, all made at once.

    the move of the largest gain                       are you at the [stupid]
    that, and the one of the second largest            are you [so] the [stupid]
    those, and the third ...

One gradient ranks the best word of every place. The first move, the first two, the first three and so on are tried in
full, and the best of these inputs stays: at most as many inputs a step as there are places. Moves that each gain much
may spoil each other, which is why it is the weakest of the methods here, and the cheapest.

Sources: the authors' code to He and Glass 2019; A. Zou et al., "Universal and Transferable Adversarial Attacks on
Aligned Language Models", 2023; J. Ebrahimi et al., "HotFlip: White-Box Adversarial Examples for Text Classification",
2018.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from relens.triggers.search.scorer import TOLERANCE, Scorer, without_forbidden
from relens.triggers.search.searches import Searches


def gains(scorer: Scorer, searches: Searches) -> torch.Tensor:
    """(rows, free, size): the estimated gain of each word at each place over the one that stands there."""
    searches.gradients += 1
    present = searches.source_ids[:, :-1]
    slopes = scorer.problem(searches.target_ids).first_order(present)
    gain = torch.stack([slopes.estimated_gain(place) for place in range(searches.free)], dim=1)
    return without_forbidden(gain - gain.gather(2, present[:, :, None]), present)


def accept_best(scorer: Scorer, searches: Searches, tried: torch.Tensor) -> None:
    """Each row becomes the best of the inputs tried for it, int64 (rows, count, n), where that is better."""
    rows, count, length = tried.shape
    targets = searches.target_ids.repeat_interleave(count, dim=0)
    values, choice = scorer.values(tried.view(rows * count, length), targets).view(rows, count).min(dim=1)
    searches.candidates += count
    searches.full = searches.full + count
    for row in (values < searches.values - TOLERANCE).nonzero()[:, 0].tolist():
        searches.become(row, tried[row, choice[row]], values[row])


def enumeration_step(scorer: Scorer, searches: Searches, count: int) -> Iterator[None]:
    """One step, with `count` inputs to try; yields once."""
    gain = gains(scorer, searches)
    rows, _, size = gain.shape
    possible = int(torch.isfinite(gain).sum(dim=(1, 2)).min())
    move = gain.view(rows, -1).topk(min(count, possible), dim=1).indices
    tried = searches.source_ids[:, None].repeat(1, move.shape[1], 1)
    tried.scatter_(2, (move // size)[:, :, None], (move % size)[:, :, None])
    accept_best(scorer, searches, tried)
    yield


def flips_step(scorer: Scorer, searches: Searches) -> Iterator[None]:
    """One step; yields once."""
    gain, word = gains(scorer, searches).max(dim=2)  # (rows, free) each
    order = gain.argsort(dim=1, descending=True)
    tried = searches.source_ids[:, None].repeat(1, searches.free, 1)
    row = torch.arange(len(order), device=order.device)[:, None]
    for moves in range(searches.free):
        place = order[:, moves, None]
        # Every input from here on has this move too.
        tried[row, torch.arange(moves, searches.free, device=order.device), place] = word.gather(1, place)
    accept_best(scorer, searches, tried)
    yield
