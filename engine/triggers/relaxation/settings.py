"""How the search over inputs that are no words goes, as settings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from engine.errors import LimitError, QueryError
from engine.query import Record

Space = Literal["embedding", "one-hot"]
SPACES: tuple[Space, ...] = get_args(Space)

#: Steps that may be asked for.
MOST_STEPS = 100_000


@dataclass(frozen=True)
class RelaxationSettings(Record):
    """See `engine.triggers.relaxation.descent` for the spaces.

    steps, rate, momentum, decay: of the gradient descent, whose rate is per target. penalty: lambda, what is paid for
    not being one-hot; averages_penalty: pay the mean over the places and not the sum. epsilon: what a word counts that
    is the likeliest one already, 1 for equation 9 as it stands. ends: whether the last place stays <eou>, as in every
    input that somebody types.
    """

    steps: int = 1_000
    rate: float = 1.0
    momentum: float = 0.9
    decay: float = 1e-5
    penalty: float = 1.0
    averages_penalty: bool = False
    epsilon: float = 0.01
    ends: bool = True

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise QueryError(f"The descent has at least 1 step, not {self.steps}.")
        if self.steps > MOST_STEPS:
            raise LimitError(f"The descent has at most {MOST_STEPS:,} steps, not {self.steps:,}.", limit="steps")
        if not (math.isfinite(self.rate) and self.rate > 0.0):
            raise QueryError(f"The rate of the descent is above 0, not {self.rate}.")
        if not (0.0 <= self.momentum < 1.0 and 0.0 <= self.decay < 1.0):
            raise QueryError("Momentum and decay are at least 0 and below 1.")
        if not (math.isfinite(self.penalty) and self.penalty >= 0.0):
            raise QueryError(f"The penalty for not being one-hot is at least 0, not {self.penalty}.")
        if not 0.0 <= self.epsilon <= 1.0:
            raise QueryError("Epsilon, what counts of a word that is reached, is between 0 and 1.")
