"""How a model is trained, as settings.

    QUICK     Adam, whose rate falls linearly from 0.002 to nothing over one epoch, in bfloat16 where that may be
    PAPER     stochastic gradient descent with rate 1 for ten epochs, then halved at the beginning of each of ten more
    AUTHORS   the same with momentum and weight decay, and times 0.6 for half, as in the authors' later code

Source: He and Glass 2019, sections 2 and 5.1, and that code, from which the clipping of gradients is too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from engine.errors import QueryError
from engine.query import Record


@dataclass(frozen=True)
class Recipe(Record):
    """How to train. rate: of the first step.

    schedule: "linear", down to nothing at the last step of all epochs, or "steps", constant for `steady` epochs and
    then times `decay` at the beginning of each. clip: the largest norm of a gradient, None for none. autocast: compute
    in bfloat16 what may be; weights stay float32.
    """

    optimiser: Literal["adam", "sgd"] = "adam"
    rate: float = 2e-3
    epochs: int = 1
    batch: int = 64
    schedule: Literal["linear", "steps"] = "linear"
    steady: int = 10
    decay: float = 0.5
    momentum: float = 0.0
    weight_decay: float = 0.0
    clip: float | None = 5.0
    autocast: bool = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.rate) and self.rate > 0.0):
            raise QueryError(f"The learning rate is above 0, not {self.rate}.")
        if not 1 <= self.epochs <= 1000:
            raise QueryError(f"A model is trained for between 1 and 1,000 epochs, not {self.epochs}.")
        if not 1 <= self.batch <= 4096:
            raise QueryError(f"A batch has between 1 and 4,096 pairs, not {self.batch}.")
        if self.steady < 0 or not 0.0 < self.decay <= 1.0:
            raise QueryError("The rate decays by a factor above 0 and at most 1, after 0 steady epochs or more.")
        if not (0.0 <= self.momentum < 1.0 and 0.0 <= self.weight_decay < 1.0):
            raise QueryError("Momentum and weight decay are at least 0 and below 1.")
        if self.clip is not None and not (math.isfinite(self.clip) and self.clip > 0.0):
            raise QueryError(f"A gradient is clipped to a norm above 0, not {self.clip}.")

    def rate_at(self, epoch: int, step: int, steps: int) -> float:
        """The rate of step `step`, from 0, of the `steps` of epoch `epoch`, from 0."""
        if self.schedule == "linear":
            return self.rate * (1.0 - (epoch * steps + step) / (self.epochs * steps))
        return self.rate * self.decay ** max(0, epoch - self.steady + 1)


QUICK = Recipe()
PAPER = Recipe("sgd", 1.0, 20, schedule="steps", autocast=False)
AUTHORS = Recipe("sgd", 1.0, 21, schedule="steps", decay=0.6, momentum=0.9, weight_decay=1e-5, autocast=False)
