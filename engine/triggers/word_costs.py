"""What a batch of sentences costs a model in training: the output layer, on the words that are there and no others.

    i am fine </s>          states of 4 + 2 words in one table, 6 rows and 58 empty ones -> logits -> cost of 6 words
    yes </s> <pad> <pad>

The output layer is most of the work, so it is spared the padding. How many words are left is another number in each
batch, and for each size of a matrix that it has not met oneDNN writes itself code, in bfloat16, which it keeps: after
an hour a training held gigabytes of it. So the table is filled up to a multiple of 64 rows, which costs almost nothing.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from engine.triggers.batches import target_mask

_ROWS = 64

#: Stands for a word that is none; `cross_entropy` passes over it.
_NO_WORD = -100


def summed_cost(output: nn.Linear, states: torch.Tensor, sentence_ids: torch.Tensor) -> torch.Tensor:
    """The negative log-probability of all ids after the first, summed, in nats; `PAD` is no word.

    states: (batch, m, hidden), of which the output layer makes the logits of what follows; sentence_ids: int64
    (batch, m + 1).
    """
    places = target_mask(sentence_ids).flatten().nonzero()[:, 0]
    words = sentence_ids[:, 1:].flatten()[places]
    empty = (0, -len(places) % _ROWS)
    logits = output(states.flatten(0, 1)[functional.pad(places, empty)])
    return functional.cross_entropy(
        logits.float(), functional.pad(words, empty, value=_NO_WORD), ignore_index=_NO_WORD, reduction="sum"
    )
