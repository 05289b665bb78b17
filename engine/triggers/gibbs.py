"""gibbs-enum: place after place, the words that promise most are tried in full, and the best of them stays.

    at you the [office] is    ->    at you the [stupid] is    ->    at you the stupid [!]

The promise is computed anew after each word that is accepted, for it changes that of all others. A sweep goes over all
places once; sweeps follow each other until one brings nothing (`engine.triggers.trigger_search`). The objective falls
with every word that is accepted, so the end is an input that no word on any of its shortlists makes better.

Where nothing was accepted in as many places in a row as there are, all of them have been tried in the input as it
stands, and would come to the same again. So a search rests there, though its last sweep is not at its end:

    first sweep     .  x  .  .  .  x  .  .         x  another word was accepted, .  none was
    second sweep    .  .  .  x  .  .  .  .
    third sweep     .  .  .  .  -  -  -  -         -  was tried with this very input in the second sweep

Source: He and Glass 2019, Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from engine.triggers.gradients import FirstOrder, first_order, shortlist
from engine.triggers.scorer import Scorer
from engine.triggers.searches import Searches


def gibbs_sweep(scorer: Scorer, searches: Searches, count: int) -> Iterator[None]:
    """One sweep, with `count` words on each shortlist; yields after each place."""
    slopes: FirstOrder | None = None
    changed = torch.ones_like(searches.quiet, dtype=torch.bool)
    for place in searches.places:
        open_rows = (searches.quiet < searches.free).nonzero()[:, 0]
        if not len(open_rows):
            return
        stale = changed.nonzero()[:, 0]
        if slopes is None or len(stale):
            new = _slopes(scorer, searches, stale)
            if slopes is None:
                slopes = new
            else:
                slopes.put(stale, new)
        promise = slopes.take(open_rows).at(place)
        changed.zero_()
        changed[open_rows] = try_place(scorer, searches, open_rows, place, promise, count)
        yield


def try_place(
    scorer: Scorer, searches: Searches, rows: torch.Tensor, place: int, promise: torch.Tensor, count: int
) -> torch.Tensor:
    """Try the `count` words that promise most, (rows, size), at a place; bool (rows,): where one of them was accepted.

    rows: numbers of the searches, int64.
    """
    source_ids = searches.source_ids[rows]
    words = shortlist(promise, source_ids[:, place], count)
    best = scorer.best(source_ids, searches.target_ids[rows], searches.values[rows], place, words)
    searches.candidates[rows] += words.shape[1]
    return searches.accept(rows, place, best)


def _slopes(scorer: Scorer, searches: Searches, rows: torch.Tensor) -> FirstOrder:
    searches.gradients[rows] += 1
    return first_order(
        scorer.seq2seq,
        scorer.sentence_model,
        scorer.objective,
        searches.source_ids[rows],
        searches.target_ids[rows],
    )
