"""A trigger checked: the score of a text by itself, computed plainly, beside the model's own greedy reply.

    score_row(losses, inputs, "mean words", thresholds, searched)        one row, see `engine.triggers.score_row`
    difference(stored, row.token_log_probs)                              4e-7 nats: it comes out as the search had it

A search sees triggers in batches, by shortcuts. Before anybody is told of a hit, the trigger is made anew from its text
and put through the network alone. A text that somebody has typed is scored by the same code, so a search and a check
have the same row. Source: He and Glass 2019, section 4.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engine.triggers.hits import HitType, Score, Thresholds
from engine.triggers.score_row import ScoreRow

if TYPE_CHECKING:
    from engine.triggers.losses import InputCosts, ReplyLosses

#: What a row of a check tells.
SCORE = "score"

#: Nats by which a log-probability may differ from the stored one, and be the same: sums are rounded otherwise.
TOLERANCE = 1e-3


def score(losses: ReplyLosses, text: str, inputs: InputCosts | None = None) -> Score:
    """The score of a text in place of the trigger. Without `inputs` it has no input log-probabilities.

    Raises errors with a sentence for a text that the model cannot be given.
    """
    ids = losses.prompt.read(text)
    found = losses.after(ids)
    costs = [] if inputs is None else inputs.text_costs(inputs.read(text))
    return Score(
        tuple(-cost for cost in found.costs[0].tolist()),
        tuple(found.leads[0].tolist()),
        tuple(-cost for cost in costs),
        losses.reply(ids, losses.prompt.longest_reply),
    )


def score_row(
    losses: ReplyLosses,
    inputs: InputCosts,
    text: str,
    thresholds: Thresholds,
    searched: HitType,
    fingerprint: str = "",
) -> ScoreRow:
    """The row of a text. Raises as `score` does."""
    prompt, found = losses.prompt, score(losses, text, inputs)
    target = prompt.target
    return ScoreRow(
        text=text,
        input_tokens=inputs.tokens(inputs.read(text)),
        input_log_probs=found.input_log_probs,
        target_tokens=prompt.tokens(target),
        token_log_probs=found.token_log_probs,
        leads=found.leads,
        reply=prompt.written(found.reply),
        is_said=found.reply[: len(target)] == target,
        margins=found.margins(thresholds, searched),
        searched=searched.name,
        thresholds=thresholds,
        token_name=prompt.token_name,
        ends=prompt.ends,
        reply_ends=bool(found.reply) and found.reply[-1] in losses.end_ids,
        prompt=prompt.around(text),
        input_ids=prompt.ids_of(text),
        target_ids=target,
        reply_ids=found.reply,
        attention=losses.attention(prompt.read(text)),
        fingerprint=fingerprint,
    )


def checked(row: ScoreRow, stored: Sequence[float], fingerprint: str) -> dict[str, Any]:
    """The row of a check: the score, how far it is from the log-probabilities that a search stored, and of which model.

    fingerprint: of the model that the search was made with, "" for any.
    """
    same = not fingerprint or fingerprint == row.fingerprint
    return {**row.to_json(), "difference": difference(stored, row.token_log_probs), "same_model": same}


def difference(stored: Sequence[float], found: Sequence[float]) -> float | None:
    """The largest difference in nats; None where nothing was stored, or of another number of tokens."""
    if not stored or len(stored) != len(found):
        return None
    return max(abs(one - other) for one, other in zip(stored, found, strict=True))


def agreement(rows: Sequence[Mapping[str, Any]], digits: str = "float32") -> list[str]:
    """Whether scores come out as they were stored. rows: with "difference"; digits: the format of the computation."""
    compared = [row["difference"] for row in rows if row["difference"] is not None]
    if not compared:
        return []
    same = sum(difference <= TOLERANCE for difference in compared)
    if same < len(compared):
        come = "comes" if same == 1 else "come"
        return [
            f"Not verified: scored anew in {digits}, only {same:,} of {len(compared):,} {come} out as told; the largest"
            f" difference is {max(compared):.2g} nats."
        ]
    what = "it comes out as it was told" if same == 1 else f"{same:,} of {same:,} come out as they were told"
    differences = f"differences of at most {max(compared):.1e} nats" if max(compared) else "no difference at all"
    return [f"Verified: scored anew in {digits}, {what}, with {differences}."]
