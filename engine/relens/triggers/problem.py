"""The trigger problem of any model: the objective of triggers, and the tokens to try by its gradient.

    trigger              reply: cost counted    input: cost counted     objective
    mean words here             1.9                   0                    1.9
    mean words this             1.8                   0                    1.8

The objective L is a function of the embeddings of the trigger's tokens. Were the token at place t a mixture x of
tokens, its embedding would be the mixture of theirs, and L would change with the share of token v at the rate

    dL/dx_v  =  E_v . dL/de_t          E_v: the embedding of v, e_t: the one that is read at t

so one backward pass and one product with the table E give the rate of every token at every place. A token of the
trigger also costs something itself ("io"), see `InputSlopes`. The rate is right for a small share and a rough guess for
a whole token: the best tokens by this rate are candidates only. The guess gets better when the gradients of several
triggers are averaged that differ at the place in question only.

Sources: He and Glass 2019, section 4.2, Algorithm 1 and appendix D; HotFlip, Ebrahimi et al. 2018; averaged gradients:
Jones et al. 2023, "Automatically Auditing Large Language Models via Discrete Optimization", section 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from relens.errors import ModelError
from relens.triggers.losses import InputCosts, InputSlopes, ReplyLosses, exact
from relens.triggers.objective import Objective
from relens.triggers.row_batch import RowBatch


@dataclass
class FirstOrder(RowBatch):
    """The slopes of the objective at some triggers.

    gradient: (rows, places, width), by what the model reads at the places from `held` on. inputs: where inputs count;
    input_weights: (rows,), how much.
    """

    gradient: torch.Tensor
    losses: ReplyLosses
    held: int
    inputs: InputSlopes | None = None
    input_weights: torch.Tensor | None = None

    @torch.no_grad()
    def estimated_gain(self, place: int) -> torch.Tensor:
        """(rows, vocabulary): minus the slope of each token at that place; the larger, the more may be gained by it."""
        gain = -(exact(self.gradient[:, place - self.held]) @ self.losses.exact_table.T)
        if self.inputs is not None and self.input_weights is not None:
            gain -= self.input_weights[:, None] * self.inputs.at(place)
        return gain


@dataclass(frozen=True)
class Evaluation:
    """Of some triggers, each (rows,). values: the objective; hits: whether the hit type is reached."""

    values: torch.Tensor
    hits: torch.Tensor


@dataclass(frozen=True)
class TriggerProblem:
    """The search problem of one target for each row. Raises `ModelError` where inputs count and have no judge."""

    losses: ReplyLosses
    objective: Objective
    inputs: InputCosts | None = None

    def __post_init__(self) -> None:
        if self.objective.scores_inputs and self.inputs is None:
            raise ModelError("A hit type that scores inputs needs a model to score them with.")

    @torch.no_grad()
    def evaluate(self, triggers: torch.Tensor) -> Evaluation:
        """Of triggers int64 (rows, free), each in full."""
        target, objective = self.losses.of_triggers(triggers), self.objective
        first = target.leads > 0.0
        values, hits = objective.of_reply(target.costs, first), objective.reply_is_hit(target.costs, first)
        if self.inputs is not None and objective.scores_inputs:
            costs = self.inputs.mean_costs(triggers).to(values.device)
            values, hits = values + objective.of_input(costs), hits & objective.input_is_hit(costs)
        return Evaluation(values, hits)

    @torch.no_grad()
    def reply_values(self, triggers: torch.Tensor) -> torch.Tensor:
        """(rows,): the part of each objective by the reply, without the cost of the input."""
        target = self.losses.of_triggers(triggers)
        return self.objective.of_reply(target.costs, target.leads > 0.0)

    def first_order(self, triggers: torch.Tensor) -> FirstOrder:
        """The slopes at triggers int64 (rows, free), with the weight of each token held fixed.

        See `Objective.word_weights`. Inputs are left out where their judge has no gradient.
        """
        step = self.losses.rows_at_once
        rows = [slice(first, first + step) for first in range(0, len(triggers), step)]
        # cuDNN computes no gradient of an LSTM in evaluation mode, and dropout would blur it in the other.
        with torch.backends.cudnn.flags(enabled=False):
            gradient = torch.cat([self._reply_gradient(self.losses.take(some), triggers[some]) for some in rows])
            if self.inputs is None or not (self.objective.scores_inputs and self.inputs.has_gradient):
                return FirstOrder(gradient, self.losses, self.losses.held)
            inputs = InputSlopes.joined([self.inputs.slopes(triggers[some]) for some in rows])
        weights = self.objective.input_weights(inputs.mean)
        return FirstOrder(gradient, self.losses, self.losses.held, inputs, weights)

    @torch.enable_grad()
    def _reply_gradient(self, losses: ReplyLosses, triggers: torch.Tensor) -> torch.Tensor:
        """(rows, places, width)."""
        embeddings = losses.embed(triggers).requires_grad_(True)
        target = losses.of_embeddings(embeddings)
        weights = self.objective.word_weights(target.costs.detach(), target.leads > 0.0)
        (gradient,) = torch.autograd.grad((weights * target.costs).sum(), embeddings)
        return gradient
