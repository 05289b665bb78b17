"""gibbs-enum for today's models: one place after the other, the best of a shortlist by the gradient.

    tell me [a] zebra now      slopes at one place      joke  story  why  ...  8 of them
    tell me [joke] zebra now   all are tried; the best is taken if it is better
    tell me joke [zebra] now   the next place

This is Algorithm 1 of He and Glass (2019), with changes for a budget of a thousand evaluations, which are a few sweeps
over twenty places. The first two change no answer, the others can be turned off:

* prefix: places are visited in order, so the part before the place is read once for all candidates;
* kept gradients: a gradient tells of all places that follow, so it holds until the trigger changes;
* averaged gradients, where `averaged` is above 1: for the first evaluations, while most tokens are still random, the
  slope at a place is the mean over a few random tokens there (ARCA, Jones et al. 2023). Those passes count too;
* nothing twice: a trigger that was tried in vain is not tried again, and makes room for the next ones. Without this a
  search stalls, for at a trigger that is left as it is the same eight tokens are tried, sweep after sweep;
* annealing: a candidate that is worse by d is taken with probability exp(-d / temperature), and the temperature falls
  to nothing as the budget is used up. The best trigger is kept aside, and gone back to after a sweep that brought
  nothing better;
* restarts on stall: after three such sweeps some places of the best are drawn anew. `kick` = 1 draws all of them, which
  is the paper's restart, and never goes back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from relens.record import Record
from relens.setting import Setting, check_settings

if TYPE_CHECKING:
    import torch

    from relens.triggers.causal.trial import Trial
    from relens.triggers.problem import FirstOrder

#: Tokens in order of gain that are checked for each new one that survives.
_LOOKED_AT = 64

#: Sweeps without a better trigger before a restart.
_PATIENCE = 3

#: Nats by which a trigger has to be better than another.
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class CoordinateSearch(Record):
    """Settings of the search.

    shortlist: G, the tokens tried at a place. averaged: random tokens whose gradients are averaged, 1 for the plain
    gradient; until so many evaluations (`averaged_until`). temperature: in nats, of the beginning; 0 takes better
    triggers only. kick: the share of places that a restart draws anew. tries_again: whether a trigger may be tried that
    was tried before, as in the paper; then a sweep that changes nothing is the end of a restart.
    """

    kind: ClassVar[str] = "coordinate"

    shortlist: Annotated[
        int, Setting("Tokens tried (G)", "The tokens that are tried at a place.", least=1, most=4_096)
    ] = 8
    averaged: Annotated[
        int,
        Setting(
            "Gradients averaged",
            "Random tokens at a place whose gradients are averaged at first; 1 for the plain gradient.",
            least=1,
            most=64,
        ),
    ] = 1
    averaged_until: Annotated[
        int, Setting("Averaged until", "From so many evaluations on, gradients are plain.", least=0)
    ] = 512
    temperature: Annotated[
        float,
        Setting("Temperature", "In nats, of the beginning; 0 takes better triggers only.", least=0.0),
    ] = 0.05
    kick: Annotated[
        float,
        Setting("Share drawn anew", "The share of places that a restart draws anew.", above=0.0, most=1.0),
    ] = 0.25
    tries_again: Annotated[
        bool,
        Setting("Tries again", "A trigger may be tried that was tried before, as in the paper."),
    ] = False

    def __post_init__(self) -> None:
        check_settings(self)

    def steps(self, trial: Trial) -> Iterator[None]:
        """Search until the budget of the trial is used up; one place a step."""
        present = trial.first()
        (value,) = trial.values([present])
        kept = _KeptSlopes(trial)
        tried = {present}
        idle = 0
        while trial.left:
            best_before, swept_from = trial.value, present
            for place in range(trial.prompt.free):
                present, value = self._visit(trial, kept, tried, present, value, place)
                yield None
                if not trial.left:
                    return
            idle = 0 if trial.value < best_before - _TOLERANCE else idle + 1
            if idle == _PATIENCE or (self.tries_again and present == swept_from):
                trial.restarts += 1
                idle = 0
                present = trial.redrawn(trial.best, max(1, round(self.kick * trial.prompt.free)))
                trial.losses.hold((), 0)
                (value,) = trial.values([present])
                tried.add(present)
            elif idle and self.kick < 1.0:
                present, value = trial.best, trial.value

    def _visit(
        self,
        trial: Trial,
        kept: _KeptSlopes,
        tried: set[tuple[int, ...]],
        present: tuple[int, ...],
        value: float,
        place: int,
    ) -> tuple[tuple[int, ...], float]:
        trial.losses.hold(present, place)
        if self.averaged > 1 and trial.evaluations < self.averaged_until:
            slopes = trial.first_order(self._averaged_over(trial, present, place))
        else:
            slopes = kept.at(present, place)
        ordered = with_token(present, place, self._ordered(trial.estimated_gain(slopes, place), present[place]))
        if not self.tries_again:
            ordered = [trigger for trigger in ordered if trigger not in tried]
        candidates = trial.surviving(ordered, min(self.shortlist, trial.left))
        if not candidates:
            return present, value
        tried.update(candidates)
        values = trial.values(candidates)
        least = min(range(len(values)), key=values.__getitem__)
        worse = values[least] - value
        temperature = self.temperature * trial.left / trial.budget
        if worse < -_TOLERANCE or (temperature > 0.0 and trial.rng.random() < math.exp(-max(0.0, worse) / temperature)):
            return candidates[least], values[least]
        return present, value

    def _averaged_over(self, trial: Trial, present: tuple[int, ...], place: int) -> list[tuple[int, ...]]:
        tokens = [trial.rng.choice(trial.prompt.allowed) for _ in range(min(self.averaged, trial.left) - 1)]
        return [present, *with_token(present, place, tokens)]

    def _ordered(self, gain: torch.Tensor, present: int) -> list[int]:
        """The tokens of the largest gain (vocabulary,), without the one that stands there."""
        possible = int(gain.isfinite().sum())
        best = gain.topk(min(self.shortlist * _LOOKED_AT + 1, possible)).indices.tolist()
        return [token for token in best if token != present]


class _KeptSlopes:
    """The slopes at one trigger, as long as that is the present one.

    They are of the places that were not held when the gradient was taken: an encoder-decoder holds none.
    """

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._trigger: tuple[int, ...] = ()
        self._slopes: FirstOrder

    def at(self, present: tuple[int, ...], place: int) -> FirstOrder:
        """The slopes at the place, where the trial holds the part before it."""
        if present != self._trigger or place < self._slopes.held:
            self._trigger, self._slopes = present, self._trial.first_order([present])
        return self._slopes


def with_token(trigger: tuple[int, ...], place: int, tokens: list[int]) -> list[tuple[int, ...]]:
    """The trigger with each of the tokens at that place."""
    return [(*trigger[:place], token, *trigger[place + 1 :]) for token in tokens]
