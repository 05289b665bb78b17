"""Settings of a descent on relaxed inputs, and the two spaces of such inputs.

relax(model, targets, "one-hot", RelaxationSettings(steps=4_000, penalty=0.1))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from relens.record import Record
from relens.setting import Setting, check_settings
from relens.triggers.objective import EPSILON

Space = Literal["embedding", "one-hot"]
SPACES: tuple[Space, ...] = get_args(Space)
SPACE_LABELS = {"embedding": "any embeddings", "one-hot": "mixtures of words"}

PENALTY = Setting(
    "One-hot penalty (lambda)",
    "Weight of the penalty on mixtures of words. More: nearer to words, and fewer targets reached. For all lists but "
    "mal.",
    least=0.0,
    step=0.1,
)


@dataclass(frozen=True, kw_only=True)
class RelaxationSettings(Record):
    """steps, rate, momentum, decay: of the gradient descent, whose rate is per target. penalty: lambda.

    averages_penalty: the mean penalty of the places in place of the sum. epsilon: the weight of a word of the target
    that is the likeliest already, 1 for equation 9 as it stands. ends: whether the last place stays <eou>.
    """

    steps: Annotated[
        int, Setting("Steps", "Steps of the gradient descent. More: more targets are reached.", least=1, most=100_000)
    ] = 1_000
    rate: Annotated[float, Setting("Rate", "Of the gradient descent, for each target.", above=0.0)] = 1.0
    momentum: Annotated[float, Setting("Momentum", "Of the gradient descent.", least=0.0, below=1.0)] = 0.9
    decay: Annotated[float, Setting("Weight decay", "Of the gradient descent.", least=0.0, below=1.0)] = 1e-5
    penalty: Annotated[float, PENALTY] = 1.0
    averages_penalty: Annotated[
        bool, Setting("Mean penalty", "The mean of the penalties of all places, in place of the sum.")
    ] = False
    epsilon: Annotated[float, EPSILON] = 0.01
    ends: Annotated[bool, Setting("Input ends", "The last place stays <eou>, as in every typed input.")] = True

    def __post_init__(self) -> None:
        check_settings(self)
