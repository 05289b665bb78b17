"""Scores of many pairs at once, a second way: log-softmax over all words, in batches of replies of several lengths."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from relens.triggers.hits import Score
from relens.triggers.model.batches import target_tensor
from relens.triggers.model.sentence_model import SentenceModel
from relens.triggers.model.seq2seq import Seq2Seq
from relens.triggers.model.vocabulary import BEGIN


@torch.inference_mode()
def evaluate(
    seq2seq: Seq2Seq,
    sentence_model: SentenceModel,
    source_ids: torch.Tensor,
    targets: Sequence[Sequence[int]],
    batch: int = 64,
) -> list[Score]:
    """The score of each pair of inputs int64 (pairs, n) and targets, their ids with `END`."""
    found: list[Score] = []
    for first in range(0, len(targets), batch):
        sources, some = source_ids[first : first + batch], targets[first : first + batch]
        encoded = seq2seq.encode(sources)
        ids = target_tensor([[BEGIN, *target] for target in some])
        log_probs = torch.log_softmax(seq2seq.logits(encoded, ids), dim=2)
        own = log_probs.gather(2, ids[:, 1:, None])[:, :, 0]
        leads = own - log_probs.scatter(2, ids[:, 1:, None], -torch.inf).amax(dim=2)
        columns = own.tolist(), leads.tolist(), sentence_model.input_log_probs(sources).tolist()
        for target, reply, *row in zip(some, seq2seq.greedy(encoded), *columns, strict=True):
            words, ahead, inputs = row
            found.append(Score(tuple(words[: len(target)]), tuple(ahead[: len(target)]), tuple(inputs), tuple(reply)))
    return found
