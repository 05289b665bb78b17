"""How the search over inputs that are no words goes, as settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from engine.record import Record
from engine.setting import Setting, check_settings
from engine.triggers.objective import EPSILON

Space = Literal["embedding", "one-hot"]
SPACES: tuple[Space, ...] = get_args(Space)

STEPS = Setting("Steps", "How often the numbers are moved. More: more targets are reached.", least=1, most=100_000)
RATE = Setting("Rate", "Of the gradient descent, for each target.", above=0.0)
MOMENTUM = Setting("Momentum", "Of the gradient descent.", least=0.0, below=1.0)
DECAY = Setting("Weight decay", "Of the gradient descent.", least=0.0, below=1.0)
PENALTY = Setting(
    "One-hot penalty (lambda)",
    "How much a place pays for not being one word, where inputs are shares of words. More: nearer to words, and fewer "
    "targets reached. For all lists but mal.",
    least=0.0,
    step=0.1,
)
AVERAGES_PENALTY = Setting("Mean penalty", "Places pay the mean of their penalties and not the sum.")
ENDS = Setting("Input ends", "The last place stays <eou>, as in every input that somebody types.")


@dataclass(frozen=True)
class RelaxationSettings(Record):
    """See `engine.triggers.relaxation.descent` for the spaces.

    steps, rate, momentum, decay: of the gradient descent, whose rate is per target. penalty: lambda, what is paid for
    not being one-hot; averages_penalty: pay the mean over the places and not the sum. epsilon: what a word counts that
    is the likeliest one already, 1 for equation 9 as it stands. ends: whether the last place stays <eou>, as in every
    input that somebody types.
    """

    steps: Annotated[int, STEPS] = 1_000
    rate: Annotated[float, RATE] = 1.0
    momentum: Annotated[float, MOMENTUM] = 0.9
    decay: Annotated[float, DECAY] = 1e-5
    penalty: Annotated[float, PENALTY] = 1.0
    averages_penalty: Annotated[bool, AVERAGES_PENALTY] = False
    epsilon: Annotated[float, EPSILON] = 0.01
    ends: Annotated[bool, ENDS] = True

    def __post_init__(self) -> None:
        check_settings(self)
