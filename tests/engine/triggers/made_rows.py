"""Made rows of searches for triggers, as they are stored: only their targets and their hits matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relens.triggers.causal.rows import PromptTriggerRow
from relens.triggers.hits import Thresholds
from relens.triggers.score_row import Seen, StoredScore
from relens.triggers.search.rows import TriggerRow


def trigger_row(
    name: str, place: int, hits: Mapping[str, bool], target: Sequence[str] = ("word",), seen: Seen = ""
) -> dict[str, Any]:
    """The row of a target of the list with that name."""
    return TriggerRow(
        name,
        place,
        tuple(target),
        _score(hits),
        seen,
        objective=1.0,
        restart=0,
        inputs=(("word",),),
        objectives=(1.0,),
        sweeps=(1,),
        restarts_that_hit={},
        candidates=1,
        full=1,
        gradients=1,
        model="toy",
        seconds=1.0,
        unit=f"{name} {place}",
    ).to_json()


def prompt_trigger_row(target: str, seed: int, hits: Mapping[str, bool]) -> dict[str, Any]:
    """The row of a search with that seed."""
    return PromptTriggerRow(
        target,
        seed,
        "coordinate",
        _score(hits),
        objective=1.0,
        curve=(),
        evaluations=1,
        gradients=0,
        dropped=0,
        restarts=0,
        seconds=1.0,
        unit=f"{target} {seed}",
    ).to_json()


def _score(hits: Mapping[str, bool]) -> StoredScore:
    return StoredScore(
        text="word",
        input_tokens=("word",),
        input_log_probs=(-1.0,),
        target_tokens=("word", "</s>"),
        token_log_probs=(-1.0, -1.0),
        leads=(1.0, 1.0),
        reply="word",
        is_said=True,
        margins={name: 1.0 if is_hit else -1.0 for name, is_hit in hits.items()},
        searched="o-greedy",
        thresholds=Thresholds(-3.0, -3.0),
    )
