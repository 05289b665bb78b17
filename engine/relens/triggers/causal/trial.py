"""One search for one target: its evaluations, its budget, and the best trigger so far.

    evaluations      33     66     99  ...      one prompt through the model, for its cost or for a gradient
    best          11.20  10.31  10.31  ...

Searches of different kinds are compared at equal evaluations, so there is one way to count them, and a budget that is
kept exactly: the last step tries as many candidates as are left. A gradient costs about as much as three costs; both
count one, and the seconds tell the rest.

Candidates whose text the tokenizer reads as other tokens are dropped before they are tried (see
`relens.triggers.causal.prompts`), and cost nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import torch

from relens.errors import LimitError, ModelError
from relens.triggers.losses import InputCosts, ReplyLosses
from relens.triggers.objective import Objective
from relens.triggers.problem import FirstOrder, TriggerProblem

MOST_EVALUATIONS = 1_000_000

#: Tokens that are drawn for one place of a first trigger before it is given up.
_DRAWS = 256


class Trial:
    """The account of one search. curve: (evaluations, objective) whenever the best got better, and at the first.

    best: ids; value: its objective; hit: the best trigger that reaches the hit type, None before there is one.
    """

    def __init__(
        self,
        losses: ReplyLosses,
        objective: Objective,
        evaluations: int,
        seed: int = 0,
        inputs: InputCosts | None = None,
    ) -> None:
        if not 1 <= evaluations <= MOST_EVALUATIONS:
            raise LimitError(
                f"A search has between 1 and {MOST_EVALUATIONS:,} evaluations, not {evaluations:,}.",
                limit="evaluations",
            )
        self.problem = TriggerProblem(losses, objective, inputs)
        self.losses, self.objective, self.inputs = losses, objective, inputs
        self.prompt = losses.prompt
        self.rng = random.Random(seed)
        self.budget = evaluations
        self.evaluations = self.gradients = self.dropped = self.restarts = 0
        self.best: tuple[int, ...] = ()
        self.value = float("inf")
        self.hit: tuple[int, ...] | None = None
        self._hit_value = float("inf")
        self.curve: list[tuple[int, float]] = []
        self._allowed = torch.zeros(losses.table.shape[0], dtype=torch.bool, device=losses.device)
        self._allowed[torch.tensor(self.prompt.allowed, device=losses.device)] = True

    @property
    def left(self) -> int:
        """Evaluations that may still be made."""
        return self.budget - self.evaluations

    def first(self) -> tuple[int, ...]:
        """A random trigger that survives. Raises `ModelError` where there is none."""
        trigger: list[int] = []
        while len(trigger) < self.prompt.free:
            drawn = (self.rng.choice(self.prompt.allowed) for _ in range(_DRAWS))
            token = next((token for token in drawn if self.prompt.survives([*trigger, token])), None)
            if token is None:
                raise ModelError("No tokens can stand in the slot of this template without changing how it is encoded.")
            trigger.append(token)
        return tuple(trigger)

    def redrawn(self, trigger: Sequence[int], places: int) -> tuple[int, ...]:
        """The trigger with random tokens at so many random places, as far as such survive."""
        redrawn = list(trigger)
        for place in self.rng.sample(range(len(redrawn)), places):
            for _ in range(_DRAWS):
                tried = [*redrawn[:place], self.rng.choice(self.prompt.allowed), *redrawn[place + 1 :]]
                if self.prompt.survives(tried):
                    redrawn = tried
                    break
        return tuple(redrawn)

    def surviving(self, triggers: Iterable[Sequence[int]], count: int) -> list[tuple[int, ...]]:
        """The first `count` of the triggers that survive; those that do not are counted."""
        kept: list[tuple[int, ...]] = []
        for trigger in triggers:
            if len(kept) == count:
                break
            if self.prompt.survives(trigger):
                kept.append(tuple(trigger))
            else:
                self.dropped += 1
        return kept

    def values(self, triggers: Sequence[Sequence[int]]) -> list[float]:
        """The objective of each trigger, at most `left` of them. The best is kept."""
        assert len(triggers) <= self.left
        evaluated = self.problem.evaluate(torch.tensor(triggers, device=self.losses.device))
        self.evaluations += len(triggers)
        before, values = self.value, [float(value) for value in evaluated.values.tolist()]
        for trigger, value, is_hit in zip(triggers, values, evaluated.hits.tolist(), strict=True):
            if value < self.value:
                self.best, self.value = tuple(trigger), value
            if is_hit and value < self._hit_value:
                self.hit, self._hit_value = tuple(trigger), value
        if self.value < before:
            self.curve.append((self.evaluations, self.value))
        return values

    def first_order(self, triggers: Sequence[Sequence[int]]) -> FirstOrder:
        """The slopes at some triggers, each of which is an evaluation."""
        self.evaluations += len(triggers)
        self.gradients += len(triggers)
        return self.problem.first_order(torch.tensor(triggers, device=self.losses.device))

    def estimated_gain(self, slopes: FirstOrder, place: int) -> torch.Tensor:
        """(vocabulary,): the mean over the rows of the slopes; minus infinity for forbidden tokens."""
        return slopes.estimated_gain(place).mean(dim=0).masked_fill(~self._allowed, -torch.inf)
