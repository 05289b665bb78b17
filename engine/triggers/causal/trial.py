"""One search for one target: what was tried, what it cost, and the best trigger so far.

    evaluations      33     66     99  ...      one prompt through the model, for its cost or for a gradient
    best          11.20  10.31  10.31  ...

Searches of different kinds are compared at equal evaluations, so there is one way to count them, and a budget that is
kept exactly: the last step tries as many candidates as are left. A gradient costs about as much as three costs; both
count one, and the seconds tell the rest.

Candidates that are not what the tokenizer makes of their text are dropped before they are tried (see
`engine.triggers.causal.prompts`), and cost nothing.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence

import torch

from engine.errors import LimitError, ModelError
from engine.triggers.causal import gradients
from engine.triggers.causal.input_scores import InputScores
from engine.triggers.causal.losses import ReplyLosses, TargetCosts
from engine.triggers.objective import Objective

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
        inputs: InputScores | None = None,
    ) -> None:
        if not 1 <= evaluations <= MOST_EVALUATIONS:
            raise LimitError(
                f"A search has between 1 and {MOST_EVALUATIONS:,} evaluations, not {evaluations:,}.",
                limit="evaluations",
            )
        if objective.scores_inputs and inputs is None:
            raise ModelError("A hit type that scores inputs needs a model to score them with.")
        self.losses, self.objective, self.inputs = losses, objective, inputs
        self.prompt = losses.prompt
        self.dice = random.Random(seed)
        self.budget = evaluations
        self.evaluations = self.gradients = self.dropped = self.restarts = 0
        self.best: tuple[int, ...] = ()
        self.value = float("inf")
        self.hit: tuple[int, ...] | None = None
        self._hit_value = float("inf")
        self.curve: list[tuple[int, float]] = []
        slack = math.log(objective.hit_type.k)
        self._enough, self._input_enough = slack - objective.thresholds.out, slack - objective.thresholds.into
        self._allowed = torch.zeros(losses.table.shape[0], dtype=torch.bool, device=losses.device)
        self._allowed[torch.tensor(self.prompt.allowed, device=losses.device)] = True

    @property
    def left(self) -> int:
        """Evaluations that may still be made."""
        return self.budget - self.evaluations

    def first(self) -> tuple[int, ...]:
        """A random trigger that survives. Raises `ModelError` where none is found."""
        found: list[int] = []
        while len(found) < self.prompt.free:
            drawn = (self.dice.choice(self.prompt.allowed) for _ in range(_DRAWS))
            token = next((token for token in drawn if self.prompt.survives([*found, token])), None)
            if token is None:
                raise ModelError("No tokens can stand in the slot of this template without changing how it is encoded.")
            found.append(token)
        return tuple(found)

    def redrawn(self, trigger: Sequence[int], places: int) -> tuple[int, ...]:
        """The trigger with random tokens at so many random places, as far as such survive."""
        found = list(trigger)
        for place in self.dice.sample(range(len(found)), places):
            for _ in range(_DRAWS):
                tried = [*found[:place], self.dice.choice(self.prompt.allowed), *found[place + 1 :]]
                if self.prompt.survives(tried):
                    found = tried
                    break
        return tuple(found)

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
        rows = torch.tensor(triggers, device=self.losses.device)
        found = self.losses.of_triggers(rows)
        values = self.objective.of_reply(found.costs, found.leads > 0.0)
        hits = self._reply_hits(found)
        if self.inputs is not None and self.objective.scores_inputs:
            costs = self.inputs.mean_costs(rows).to(values.device)
            values = values + self.objective.of_input(costs)
            hits &= costs < self._input_enough
        self.evaluations += len(triggers)
        before = self.value
        for trigger, value, is_hit in zip(triggers, values.tolist(), hits.tolist(), strict=True):
            if value < self.value:
                self.best, self.value = tuple(trigger), value
            if is_hit and value < self._hit_value:
                self.hit, self._hit_value = tuple(trigger), value
        if self.value < before:
            self.curve.append((self.evaluations, self.value))
        return [float(value) for value in values.tolist()]

    def _reply_hits(self, found: TargetCosts) -> torch.Tensor:
        rule = self.objective.hit_type.rule
        if rule == "greedy":
            return (found.leads > 0.0).all(dim=1)
        return (found.costs.amax(dim=1) if rule == "min" else found.costs.mean(dim=1)) < self._enough

    def promise(self, triggers: Sequence[Sequence[int]], place: int | None = None) -> torch.Tensor:
        """(places, vocabulary): minus the mean slope over the triggers, minus infinity for what is not allowed.

        At `place`, or at all places that are not held.
        """
        rows = torch.tensor(triggers, device=self.losses.device)
        slopes = gradients.slopes(self.losses, self.objective, rows, self.inputs, place)
        self.evaluations += len(triggers)
        self.gradients += len(triggers)
        return (-slopes.mean(dim=0)).masked_fill(~self._allowed, -torch.inf)
