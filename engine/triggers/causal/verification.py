"""What a text in a prompt does in fact: its score by itself, computed plainly, and the model's own greedy reply.

A search reports what it saw in a batch, with shared keys and values. Before anybody is told of a hit, the trigger is
encoded from its text and put through the network alone. A hit is what this says, not what the search said. A text that
somebody has typed is scored by the same code, so a search and a check tell the same of it, in the same fields:

    {"text": "mean words", "trigger_tokens": ["mean", " words"], "prompt": "... mean words ...", "nll": 2.1,
     "hits": {"o-greedy": {"is_hit": false, "margin": -0.3}, ...}, "reply": "I am sorry", ...}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.errors import LimitError, ModelError, QueryError
from engine.triggers.causal.input_scores import InputScores
from engine.triggers.causal.losses import ReplyLosses
from engine.triggers.hits import HIT_TYPES, HitType, Score, Thresholds

#: Tokens of a greedy reply beyond those of the target.
REPLY_BEYOND = 16

#: Characters of the longest text that is scored.
MOST_CHARACTERS = 4_000


def score(losses: ReplyLosses, trigger: Sequence[int], inputs: InputScores | None = None) -> Score:
    """The score of one trigger. Without `inputs` it has no input log-probabilities.

    Raises `QueryError` for a trigger that the tokenizer encodes otherwise.
    """
    prompt = losses.prompt
    if len(trigger) != prompt.free or not prompt.survives(trigger):
        raise QueryError("The tokens of this trigger are not those that the tokenizer makes of its text.")
    return score_text(losses, prompt.text(trigger), inputs)


def score_text(losses: ReplyLosses, text: str, inputs: InputScores | None = None) -> Score:
    """The score of any text in the slot of the prompt, as people's tokenizers encode it.

    Raises errors with a sentence for a text that is empty, too long, or changed by the chat format.
    """
    if not text:
        raise QueryError("There is no text to put into the prompt.")
    if len(text) > MOST_CHARACTERS:
        raise LimitError(f"A text has at most {MOST_CHARACTERS:,} characters, not {len(text):,}.", limit="text")
    prompt = losses.prompt
    if not prompt.frame.is_kept(text):
        raise QueryError("The model's chat format changes this text; often it is the blanks around it that are cut.")
    ids = prompt.ids_around(text)
    found = losses.after(ids)
    costs: list[float] = []
    if inputs is not None:
        judged = inputs.row(text)
        if len(judged) >= inputs.judge.context_length:
            raise ModelError(f"The text has {len(judged)} tokens; its judge holds {inputs.judge.context_length}.")
        (costs,) = inputs.token_costs([judged])
    return Score(
        tuple(-cost for cost in found.costs[0].tolist()),
        tuple(found.leads[0].tolist()),
        tuple(-cost for cost in costs),
        losses.reply(ids, len(prompt.target) + REPLY_BEYOND),
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


def told_score(
    losses: ReplyLosses, text: str, thresholds: Thresholds, searched: HitType, inputs: InputScores
) -> dict[str, Any]:
    """The score of a text as a row tells it (see the module). Raises as `score_text` does.

    input_tokens are those of the judge, of which the last ones have the input_log_probs. ends: whether the last of the
    target's tokens is the end of the text.
    """
    prompt, found = losses.prompt, score_text(losses, text, inputs)
    trigger = prompt.ids_of(text)
    said = [token for token in found.reply if token < prompt.tokenizer.size]  # models have spare columns
    judge = inputs.judge.tokenizer
    return {
        "text": text,
        "trigger_ids": list(trigger),
        "trigger_tokens": [prompt.tokenizer.token_text(token) for token in trigger],
        "target_tokens": [prompt.tokenizer.token_text(token) for token in prompt.target],
        "ends": prompt.ends,
        "prompt": prompt.frame.around(text),
        "nll": -found.average,
        "token_log_probs": list(found.token_log_probs),
        "leads": list(found.leads),
        "input_tokens": [judge.token_text(token) for token in inputs.row(text)],
        "input_log_probs": list(found.input_log_probs),
        "reply": prompt.tokenizer.decode(said, continues=True),
        "reply_ids": list(found.reply),
        "searched": searched.name,
        "hits": hits(found, thresholds, searched),
        "thresholds": thresholds.to_json(),
    }
