"""Greedy flips: the moves that promise most, at different places, all made at once.

    the move that promises most                        are you at the [stupid]
    that, and the one that promises second most        are you [so] the [stupid]
    those, and the third ...

One gradient ranks the best word of every place. The first move, the first two, the first three and so on are tried in
full, and the best of these inputs stays: at most as many inputs a step as there are places. Moves that promise much
each may spoil each other, which is why it is the weakest of the methods here, and the cheapest.

Source: J. Ebrahimi et al., "HotFlip: White-Box Adversarial Examples for Text Classification", 2018.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from engine.triggers.global_enumeration import accept_best, gains
from engine.triggers.scorer import Scorer
from engine.triggers.searches import Searches


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
