"""Promise by several gradients: at random words in the open place, not at the one that happens to stand there.

A gradient says what is so nearby, and another word is not nearby. Averaged over some random words in the open place it
says less about the word that stands there now, and more about the place. For the price of the gradients, the shortlist
may be the better one; otherwise this is `engine.triggers.gibbs`.

Source: E. Jones et al., "Automatically Auditing Large Language Models via Discrete Optimization" (ARCA), 2023.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from engine.triggers.gibbs import try_place
from engine.triggers.gradients import first_order
from engine.triggers.scorer import Scorer
from engine.triggers.searches import Searches, random_words


def averaged_sweep(scorer: Scorer, searches: Searches, count: int, substitutes: int) -> Iterator[None]:
    """One sweep with shortlists by `substitutes` gradients each; yields after each place."""
    size, rows = scorer.seq2seq.configuration.vocabulary_size, len(searches.source_ids)
    everyone = torch.arange(rows, device=searches.source_ids.device)
    for place in searches.places:
        tried = searches.source_ids.repeat_interleave(substitutes, dim=0)
        drawn = [random_words(generator, size, substitutes) for generator in searches.generators]
        tried[:, place] = torch.cat(drawn)
        searches.gradients += substitutes
        slopes = first_order(
            scorer.seq2seq,
            scorer.sentence_model,
            scorer.objective,
            tried,
            searches.target_ids.repeat_interleave(substitutes, dim=0),
        )
        promise = slopes.at(place).view(rows, substitutes, -1).mean(dim=1)
        try_place(scorer, searches, everyone, place, promise, count)
        yield
