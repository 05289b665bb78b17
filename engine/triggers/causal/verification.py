"""What a trigger does in fact: its score by itself, computed plainly, and the model's own greedy reply.

A search reports what it saw in a batch, with shared keys and values. Before anybody is told of a hit, the trigger is
encoded from its text and put through the network alone. A hit is what this says, not what the search said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.errors import QueryError
from engine.triggers.causal.input_scores import InputScores
from engine.triggers.causal.losses import ReplyLosses
from engine.triggers.hits import HIT_TYPES, HitType, Score, Thresholds

#: Tokens of a greedy reply beyond those of the target.
REPLY_BEYOND = 16


def score(losses: ReplyLosses, trigger: Sequence[int], inputs: InputScores | None = None) -> Score:
    """The score of one trigger. Without `inputs` it has no input log-probabilities.

    Raises `QueryError` for a trigger that the tokenizer encodes otherwise.
    """
    import torch

    prompt = losses.prompt
    if len(trigger) != prompt.free or not prompt.survives(trigger):
        raise QueryError("The tokens of this trigger are not those that the tokenizer makes of its text.")
    found = losses.plainly(trigger)
    costs: list[float] = []
    if inputs is not None:
        (costs,) = inputs.token_costs(inputs.rows(torch.tensor([list(trigger)])))
    return Score(
        tuple(-cost for cost in found.costs[0].tolist()),
        tuple(found.leads[0].tolist()),
        tuple(-cost for cost in costs),
        losses.greedy(trigger, len(prompt.target) + REPLY_BEYOND),
    )


def hits(found: Score, thresholds: Thresholds, also: HitType | None = None) -> dict[str, dict[str, Any]]:
    """By the name of each hit type, and of `also`: whether it is reached, and the margin in nats.

    Those that score inputs are left out where the inputs have no score.
    """
    asked = {hit_type.name: hit_type for hit_type in (*HIT_TYPES, *([also] if also else []))}
    return {
        name: {"is_hit": found.is_hit(hit_type, thresholds), "margin": found.margin(hit_type, thresholds)}
        for name, hit_type in asked.items()
        if hit_type.side == "o" or found.input_log_probs
    }
