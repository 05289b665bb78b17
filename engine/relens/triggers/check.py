"""A trigger checked: the score of a text, computed plainly, with the model's own greedy reply.

    stored_score(losses, inputs, "mean words", thresholds, searched)     see `relens.triggers.score_row`
    difference(stored, score.token_log_probs)                            4e-7 nats: the same score as in the search

A search scores triggers in batches, by shortcuts. Before it reports a hit, the trigger is made anew from its text and
put through the network alone. The same code scores any typed text, so searches and checks have the same rows. Source:
He and Glass 2019, section 4.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from relens.triggers.hits import HitType, Score, Thresholds
from relens.triggers.score_row import ScoreRow, StoredScore

if TYPE_CHECKING:
    from relens.triggers.losses import InputCosts, ReplyLosses

#: Nats by which a log-probability may differ from the stored one, and be the same: sums are rounded otherwise.
TOLERANCE = 1e-3


@dataclass(frozen=True)
class CheckRow(ScoreRow):
    """The score of one text of a check.

    pair: its number, from 0. difference: see `difference`. same_model: whether the model is that of the search.
    """

    row_name: ClassVar[str] = "score"
    pair: int
    difference: float | None
    same_model: bool


@dataclass(frozen=True)
class CheckFindings:
    """hit_type: that of the study, by its name. scores: in the order of the rows."""

    hit_type: str
    scores: tuple[CheckRow, ...]
    verdict: tuple[str, ...]


def score(losses: ReplyLosses, text: str, inputs: InputCosts | None = None) -> Score:
    """The score of a text in place of the trigger. Without `inputs` it has no input log-probabilities.

    Raises errors with a sentence for a text that the model cannot be given.
    """
    ids = losses.prompt.read(text)
    target = losses.after(ids)
    input_costs = [] if inputs is None else inputs.text_costs(inputs.read(text))
    return Score(
        tuple(-cost for cost in target.costs[0].tolist()),
        tuple(target.leads[0].tolist()),
        tuple(-cost for cost in input_costs),
        losses.reply(ids, losses.prompt.longest_reply),
    )


def stored_score(
    losses: ReplyLosses,
    inputs: InputCosts,
    text: str,
    thresholds: Thresholds,
    searched: HitType,
    fingerprint: str = "",
) -> StoredScore:
    """The score of a text with all that its row has. Raises as `score` does."""
    prompt, scored = losses.prompt, score(losses, text, inputs)
    target = prompt.target
    return StoredScore(
        text=text,
        input_tokens=inputs.tokens(inputs.read(text)),
        input_log_probs=scored.input_log_probs,
        target_tokens=prompt.tokens(target),
        token_log_probs=scored.token_log_probs,
        leads=scored.leads,
        reply=prompt.written(scored.reply),
        is_said=scored.reply[: len(target)] == target,
        margins=scored.margins(thresholds, searched),
        searched=searched.name,
        thresholds=thresholds,
        token_name=prompt.token_name,
        ends=prompt.ends,
        reply_ends=bool(scored.reply) and scored.reply[-1] in losses.end_ids,
        prompt=prompt.around(text),
        input_ids=prompt.ids_of(text),
        target_ids=target,
        reply_ids=scored.reply,
        attention=losses.attention(prompt.read(text)),
        fingerprint=fingerprint,
    )


def difference(stored: Sequence[float], scored: Sequence[float]) -> float | None:
    """The largest difference in nats; None without stored ones, or for another number of tokens."""
    if not stored or len(stored) != len(scored):
        return None
    return max(abs(one - other) for one, other in zip(stored, scored, strict=True))


def agreement(rows: Sequence[CheckRow], digits: str = "float32") -> tuple[str, ...]:
    """A sentence on how far the scores are from the stored ones. digits: the format of the computation."""
    compared = [row.difference for row in rows if row.difference is not None]
    if not compared:
        return ()
    same = sum(difference <= TOLERANCE for difference in compared)
    if same < len(compared):
        agrees = "agrees" if same == 1 else "agree"
        return (
            f"Not verified: scored anew in {digits}, only {same:,} of {len(compared):,} {agrees} with the search; the"
            f" largest difference is {max(compared):.2g} nats.",
        )
    agreeing = "it agrees with the search" if same == 1 else f"{same:,} of {same:,} agree with the search"
    differences = f"differences of at most {max(compared):.1e} nats" if max(compared) else "no difference at all"
    return (f"Verified: scored anew in {digits}, {agreeing}, with {differences}.",)
