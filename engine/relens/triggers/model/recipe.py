"""The settings of training.

    QUICK     Adam, whose rate falls linearly from 0.002 to 0 over one epoch, in bfloat16 where possible
    PAPER     stochastic gradient descent with rate 1 for ten epochs, then halved at the beginning of each of ten more
    AUTHORS   the same with momentum and weight decay, and times 0.6 for half, as in the authors' later code

Source: He and Glass 2019, sections 2 and 5.1, and that code, from which the clipping of gradients is too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from relens.record import Record
from relens.setting import Setting, check_settings


@dataclass(frozen=True)
class Recipe(Record):
    """rate: of the first step.

    schedule: "linear", down to 0 at the last step of all epochs, or "steps", constant for `steady` epochs and then
    times `decay` at the beginning of each. clip: the largest norm of a gradient, None for none. autocast: compute in
    bfloat16 where possible; weights stay float32.
    """

    optimiser: Annotated[Literal["adam", "sgd"], Setting("Optimiser", choices={"adam": "Adam", "sgd": "SGD"})] = "adam"
    rate: Annotated[float, Setting("Learning rate", "Of the first step.", above=0.0)] = 2e-3
    epochs: Annotated[
        int,
        Setting(
            "Epochs",
            "Passes over all pairs. Time of training grows in proportion.",
            least=1,
            most=1_000,
        ),
    ] = 1
    batch: Annotated[int, Setting("Batch", "Pairs of a step.", least=1, most=4_096)] = 64
    schedule: Annotated[
        Literal["linear", "steps"],
        Setting(
            "Schedule",
            "**Linear**: the rate falls to 0 at the last step. **Steps**: it is constant at first, and then falls by a "
            "factor at the beginning of each epoch.",
        ),
    ] = "linear"
    steady: Annotated[int, Setting("Steady epochs", "Epochs before the rate falls in steps.", least=0)] = 10
    decay: Annotated[
        float,
        Setting("Factor of the rate", "Factor of the rate at the beginning of each later epoch.", above=0.0, most=1.0),
    ] = 0.5
    momentum: Annotated[float, Setting("Momentum", least=0.0, below=1.0)] = 0.0
    weight_decay: Annotated[float, Setting("Weight decay", least=0.0, below=1.0)] = 0.0
    clip: Annotated[
        float | None, Setting("Clipping", "The largest norm of a gradient.", above=0.0, empty="no clipping")
    ] = 5.0
    autocast: Annotated[bool, Setting("Autocast", "Compute in bfloat16 where possible; weights stay float32.")] = True

    def __post_init__(self) -> None:
        check_settings(self)

    def rate_at(self, epoch: int, step: int, steps: int) -> float:
        """The rate of step `step`, from 0, of the `steps` of epoch `epoch`, from 0."""
        if self.schedule == "linear":
            return self.rate * (1.0 - (epoch * steps + step) / (self.epochs * steps))
        return self.rate * self.decay ** max(0, epoch - self.steady + 1)


QUICK = Recipe()
PAPER = Recipe("sgd", 1.0, 20, schedule="steps", autocast=False)
AUTHORS = Recipe("sgd", 1.0, 21, schedule="steps", decay=0.6, momentum=0.9, weight_decay=1e-5, autocast=False)
