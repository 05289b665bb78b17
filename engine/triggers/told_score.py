"""What is told of an input and a target in the rows of a study: the score, all hit types, and what is said in fact.

A search tells it of the trigger that it found, a check of the words that somebody has put together. Both say it in the
same fields, so that one page shows both. Of a model with attention they say what each word of the target was weighed
from; the weights are rounded to four digits, which is finer than a picture shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from engine.triggers.hits import HitType, Score
from engine.triggers.model.dialogue_model import DialogueModel
from engine.triggers.model.vocabulary import BEGIN, END


def told_score(
    model: DialogueModel, kinds: Sequence[HitType], source_ids: Sequence[int], target_ids: Sequence[int], score: Score
) -> dict[str, Any]:
    """The score of an input and a target, both as ids, as JSON; hits and margins are those of `kinds`."""
    margins = {kind.name: score.margin(kind, model.thresholds) for kind in kinds}
    return {
        "input": list(model.vocabulary.words_of(source_ids)),
        "input_ids": list(source_ids),
        "target_ids": list(target_ids),
        "hits": {name: margin > 0.0 for name, margin in margins.items()},
        "margins": margins,
        "reply": list(model.vocabulary.words_of([number for number in score.reply if number != END])),
        "reply_ends": END in score.reply,
        "token_log_probs": list(score.token_log_probs),
        "leads": list(score.leads),
        "input_log_probs": list(score.input_log_probs),
        "average": score.average,
        "lowest": score.lowest,
        "input_average": score.input_average,
        "threshold_out": model.thresholds.out,
        "threshold_in": model.thresholds.into,
        "attention": attention_weights(model, source_ids, target_ids),
        "fingerprint": model.fingerprint,
    }


def attention_weights(
    model: DialogueModel, source_ids: Sequence[int], target_ids: Sequence[int]
) -> list[list[float]] | None:
    """For each id of the target, `END` included, how it weighed those of the input; rows sum to 1 but for rounding.

    None for a model that reads nothing of the input but its last state (section 2).
    """
    if not model.has_attention:
        return None
    with torch.inference_mode():
        encoded = model.seq2seq.encode(torch.tensor([list(source_ids)], device=model.device))
        target = torch.tensor([[BEGIN, *target_ids]], device=model.device)
        (rows,) = model.seq2seq.attention_map(encoded, target).tolist()
    return [[round(weight, 4) for weight in row] for row in rows]
