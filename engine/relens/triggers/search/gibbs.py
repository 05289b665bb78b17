"""gibbs-enum: place after place, the words of the largest estimated gain are tried in full, and the best of them stays.

    at you the [office] is    ->    at you the [stupid] is    ->    at you the stupid [!]

The gain is estimated anew after each word that is accepted, for it changes that of all others. A sweep goes over all
places once; sweeps follow each other until one brings nothing (`relens.triggers.search.trigger_search`). The objective
falls with every word that is accepted, so the end is an input that no word on any of its shortlists makes better.

Where nothing was accepted in as many places in a row as there are, all of them have been tried in the input as it
stands, and would come to the same again. So a search rests there, though its last sweep is not at its end:

    first sweep     .  x  .  .  .  x  .  .         x  another word was accepted, .  none was
    second sweep    .  .  .  x  .  .  .  .
    third sweep     .  .  .  .  -  -  -  -         -  was tried with this very input in the second sweep

`averaged_sweep` estimates the gain by several gradients: at random words in the open place, not at the one that
happens to stand there. A gradient is right nearby, and another word is not nearby. Averaged over some random words in
the open place it depends less on the word that stands there now, and more on the place. For the price of the gradients,
the shortlist may be the better one; otherwise the sweep is the same.

Sources: He and Glass 2019, Algorithm 1; E. Jones et al., "Automatically Auditing Large Language Models via Discrete
Optimization" (ARCA), 2023.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from relens.triggers.problem import FirstOrder
from relens.triggers.search.scorer import Scorer, shortlist
from relens.triggers.search.searches import Searches, random_words


def gibbs_sweep(scorer: Scorer, searches: Searches, count: int) -> Iterator[None]:
    """One sweep, with `count` words on each shortlist; yields after each place."""
    slopes: FirstOrder | None = None
    changed = torch.ones_like(searches.steps_without_change, dtype=torch.bool)
    for place in searches.places:
        open_rows = (searches.steps_without_change < searches.free).nonzero()[:, 0]
        if not len(open_rows):
            return
        stale = changed.nonzero()[:, 0]
        if slopes is None or len(stale):
            new = _slopes(scorer, searches, stale)
            if slopes is None:
                slopes = new
            else:
                slopes.put(stale, new)
        gain = slopes.take(open_rows).estimated_gain(place)
        changed.zero_()
        changed[open_rows] = try_place(scorer, searches, open_rows, place, gain, count)
        yield


def averaged_sweep(scorer: Scorer, searches: Searches, count: int, substitutes: int) -> Iterator[None]:
    """One sweep with shortlists by `substitutes` gradients each; yields after each place."""
    size, rows = scorer.seq2seq.configuration.vocabulary_size, len(searches.source_ids)
    everyone = torch.arange(rows, device=searches.source_ids.device)
    for place in searches.places:
        tried = searches.source_ids.repeat_interleave(substitutes, dim=0)
        drawn = [random_words(generator, size, substitutes) for generator in searches.generators]
        tried[:, place] = torch.cat(drawn)
        searches.gradients += substitutes
        problem = scorer.problem(searches.target_ids.repeat_interleave(substitutes, dim=0))
        gain = problem.first_order(tried[:, :-1]).estimated_gain(place).view(rows, substitutes, -1).mean(dim=1)
        try_place(scorer, searches, everyone, place, gain, count)
        yield


def try_place(
    scorer: Scorer, searches: Searches, rows: torch.Tensor, place: int, gain: torch.Tensor, count: int
) -> torch.Tensor:
    """Try the `count` words of the largest gain at a place; bool (rows,): where one of them was accepted.

    rows: numbers of the searches, int64. gain: (rows, size), as estimated.
    """
    source_ids = searches.source_ids[rows]
    words = shortlist(gain, source_ids[:, place], count)
    best = scorer.best(source_ids, searches.target_ids[rows], searches.values[rows], place, words)
    searches.candidates[rows] += words.shape[1]
    return searches.accept(rows, place, best)


def _slopes(scorer: Scorer, searches: Searches, rows: torch.Tensor) -> FirstOrder:
    searches.gradients[rows] += 1
    return scorer.problem(searches.target_ids[rows]).first_order(searches.source_ids[rows, :-1])
