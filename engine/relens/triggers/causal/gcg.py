"""Greedy coordinate gradient, to compare with: random changes among the best by their gradient, at all places.

    slopes at all places       64 tokens of each are kept
    64 candidates              a random place, a random one of its tokens
    the best of them           is gone on with, better or not; the best trigger of all is kept aside

It is the usual attack on chat models. The candidates of a step differ at any place, so they share no states of the
trigger. Evaluations are counted as for the other search, gradients included.
Source: Zou et al. 2023, "Universal and Transferable Adversarial Attacks on Aligned Language Models", Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from relens.record import Record
from relens.setting import Setting, check_settings

if TYPE_CHECKING:
    from relens.triggers.causal.trial import Trial

#: Random changes that are checked for each one that survives.
_LOOKED_AT = 8


@dataclass(frozen=True)
class GreedyCoordinateGradient(Record):
    """Settings. batch: candidates of a step; top: tokens that are kept of each place."""

    kind: ClassVar[str] = "gcg"

    batch: Annotated[int, Setting("Candidates", "Triggers that a step tries.", least=1, most=4_096)] = 64
    top: Annotated[int, Setting("Tokens a place", "Tokens that a change may take.", least=1, most=4_096)] = 64

    def __post_init__(self) -> None:
        check_settings(self)

    def steps(self, trial: Trial) -> Iterator[None]:
        """Search until the budget of the trial is used up; one step at a time."""
        present = trial.first()
        trial.values([present])
        trial.losses.hold((), 0)
        while trial.left:
            slopes, top = trial.first_order([present]), min(self.top, len(trial.prompt.allowed))
            gains = (trial.estimated_gain(slopes, place) for place in range(trial.prompt.free))
            tokens = [gain.topk(top).indices.tolist() for gain in gains]
            candidates = trial.surviving(self._changes(trial, present, tokens), min(self.batch, trial.left))
            if candidates:
                values = trial.values(candidates)
                present = candidates[min(range(len(values)), key=values.__getitem__)]
            yield None

    def _changes(self, trial: Trial, present: tuple[int, ...], tokens: list[list[int]]) -> Iterator[tuple[int, ...]]:
        for _ in range(self.batch * _LOOKED_AT):
            place = trial.rng.randrange(len(present))
            yield (*present[:place], trial.rng.choice(tokens[place]), *present[place + 1 :])
