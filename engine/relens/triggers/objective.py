"""The objective of a search: the cost of the target, where words that are good enough hardly count any more.

    target               you     are    bad    </s>
    cost, -log P, nats   2.1     1.4    9.0     0.6      mean 3.3, and T_out = -3.9
    counted for "min"    0.021   0.014  9.0     0.006    mean 2.3: nearly all of it is "bad"

Were all words counted in full, a search would gain as much by making "are" still likelier. So a word that meets the
condition of the hit type counts times epsilon: for "greedy" the likeliest word, for "min" a word with a log-probability
above T_out - log k. For "avg" the mean alone matters, so no word is masked; once the mean is reached it counts times
epsilon as a whole. Hit types "io" add the mean cost of the input, times lambda, and times epsilon again once that is
reached.

Epsilon above 0 lets the search go on after a hit, towards a clearer one. The paper has no value for it; its text reads
like 0, and its authors' later code has 0.01. Each counted cost rises with the cost itself, so a lower
bound on costs is one on the objective: see `relens.triggers.search.fast_scorer`.

Source: He and Glass 2019, section 4.2, equations 3 to 6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from relens.record import Record
from relens.setting import Setting, check_settings
from relens.triggers.hits import HitType, Thresholds

if TYPE_CHECKING:
    import torch


EPSILON = Setting(
    "Epsilon",
    "The weight of a word that is likely enough: near 0 the search turns to the other words.",
    least=0.0,
    most=1.0,
    step=0.01,
)
INPUT_WEIGHT = Setting(
    "Weight of the input",
    "In searches for io hits, the weight of a trigger that reads like a sentence.",
    least=0.0,
    step=0.1,
)


@dataclass(frozen=True)
class Objective(Record):
    """The objective of a search for triggers of one hit type; smaller is better, and it is never below 0.

    epsilon, input_epsilon: the weight of a cost that is reached. input_weight: lambda, of the input's cost ("io").
    """

    hit_type: HitType
    thresholds: Thresholds
    epsilon: Annotated[float, EPSILON] = 0.01
    input_weight: Annotated[float, INPUT_WEIGHT] = 1.0
    input_epsilon: Annotated[float, EPSILON] = 0.01

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def scores_inputs(self) -> bool:
        """Whether the input's own cost counts."""
        return self.hit_type.side == "io"

    def word_weights(self, costs: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        """The weight of each word; the objective of a reply is the sum of weights times costs.

        costs: (..., m), nats, -log P of each word of the target. first: bool (..., m), whether it is the likeliest one.
        """
        import torch

        rule, enough = self.hit_type.rule, -self._threshold(self.thresholds.out)
        if rule == "greedy":
            reached = first
        elif rule == "min":
            reached = costs < enough
        else:
            reached = (costs.mean(dim=-1, keepdim=True) < enough).expand_as(costs)
        return torch.where(reached, self.epsilon, 1.0).to(costs.dtype) / costs.shape[-1]

    def input_weights(self, costs: torch.Tensor) -> torch.Tensor:
        """The weight of each input's mean cost. costs: (...), nats a word."""
        import torch

        return torch.where(self.input_is_hit(costs), self.input_epsilon, 1.0).to(costs.dtype) * self.input_weight

    def reply_is_hit(self, costs: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        """bool (...): whether the reply reaches the hit type; see `word_weights` for the shapes."""
        rule, enough = self.hit_type.rule, -self._threshold(self.thresholds.out)
        if rule == "greedy":
            return first.all(dim=-1)
        return (costs < enough).all(dim=-1) if rule == "min" else costs.mean(dim=-1) < enough

    def input_is_hit(self, costs: torch.Tensor) -> torch.Tensor:
        """bool (...): whether inputs' mean costs (...) are low enough for hit types "io"."""
        return costs < -self._threshold(self.thresholds.into)

    def of_reply(self, costs: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        """(...): equations 3, 5 and 6 without R; see `word_weights` for the shapes."""
        return (self.word_weights(costs, first) * costs).sum(dim=-1)

    def of_input(self, costs: torch.Tensor) -> torch.Tensor:
        """(...): lambda R, from inputs' mean costs (...); see equation 4."""
        return self.input_weights(costs) * costs

    def _threshold(self, threshold: float) -> float:
        return threshold - math.log(self.hit_type.k)
