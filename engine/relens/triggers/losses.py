"""The costs of a target under each of many triggers, by several kinds of models.

    before | mean words here | after | You are rude     2.1   0.3   4.0
             mean words this                            2.0   0.3   4.4
             mean words that                            2.9   0.6   3.8      costs in nats, -log P of each token

    DialogueLosses        an LSTM reads the trigger, another says the target     `relens.triggers.model`
    CausalLosses          a language model continues the prompt                  `relens.triggers.causal`
    EncoderDecoderLosses  T5, BART                                               `relens.triggers.causal`

A search works with three interfaces: `ReplyLosses` is the model, with gradients in the embeddings of the trigger;
`TriggerPrompt` is the text around the trigger; `InputCosts` is the judge of how odd a trigger is. Triggers of one step
have the same length, so there is no padding and no mask.

Source: He and Glass 2019, section 4.2, equations 3 and 4.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self

import torch

from relens.triggers.row_batch import RowBatch

#: Logits that are computed at once, and prompts.
MOST_LOGITS, MOST_ROWS = 1 << 24, 64


@dataclass(frozen=True)
class TargetCosts:
    """costs: (rows, m), nats, -log P of each token. leads: (rows, m), nats by which it is ahead of the best other one.

    A token is the greedy choice where its lead is above 0. Of padding, costs are 0 and leads infinite.
    """

    costs: torch.Tensor
    leads: torch.Tensor


def costs_and_leads(logits: torch.Tensor, words: torch.Tensor) -> TargetCosts:
    """Of words int64 (...) under logits (..., vocabulary), which are overwritten where no gradient is recorded."""
    at = words[..., None]
    own = logits.gather(-1, at)[..., 0]
    costs = torch.logsumexp(logits, dim=-1) - own
    mask = torch.Tensor.scatter if logits.requires_grad else torch.Tensor.scatter_  # a copy takes longer than the rest
    others = mask(logits.detach(), -1, at, -torch.inf).amax(dim=-1)
    return TargetCosts(costs, own.detach() - others)


def exact(values: torch.Tensor) -> torch.Tensor:
    """The values in float32, or in float64 where they are."""
    return values if values.dtype in (torch.float32, torch.float64) else values.float()


class TriggerPrompt(ABC):
    """The input of a model, with `free` places for the trigger, and its target.

    allowed: ids that may stand in a trigger. target: ids, with the one that ends the reply where it `ends`.
    longest_reply: ids of a greedy reply at most. token_name: the name of a token.
    """

    token_name: Literal["word", "token"] = "token"
    free: int
    allowed: tuple[int, ...]
    target: tuple[int, ...]
    ends: bool
    longest_reply: int

    @abstractmethod
    def ids(self, trigger: Sequence[int]) -> tuple[int, ...]:
        """The ids of the whole input, with this trigger."""

    @abstractmethod
    def text(self, trigger: Sequence[int]) -> str:
        """The text of a trigger at its place."""

    @abstractmethod
    def survives(self, trigger: Sequence[int]) -> bool:
        """Whether the tokenizer makes the same ids of its text."""

    @abstractmethod
    def read(self, text: str) -> tuple[int, ...]:
        """The ids of the whole input, with any text in place of a trigger. Raises errors with a sentence."""

    @abstractmethod
    def ids_of(self, text: str) -> tuple[int, ...]:
        """The part of `read` of the text itself."""

    @abstractmethod
    def around(self, text: str) -> str:
        """The whole prompt as text; "" where the text is all of it."""

    @abstractmethod
    def tokens(self, ids: Sequence[int]) -> tuple[str, ...]:
        """The text of each id."""

    @abstractmethod
    def written(self, reply: Sequence[int]) -> str:
        """A reply as text, without its end."""


class ReplyLosses(ABC):
    """Costs of a target, or of one for each row, for triggers int64 (rows, free).

    prompt: the text around the triggers. table: (vocabulary, width), the embedding of each token where it stands in
    a trigger. held: places of a trigger that all share. end_ids: tokens that end a reply.
    """

    prompt: TriggerPrompt
    table: torch.Tensor
    held: int = 0
    end_ids: Collection[int] = ()

    @property
    def device(self) -> torch.device:
        """Where it is computed."""
        return self.table.device

    @property
    def dtype(self) -> str:
        """The number format that the model works in, such as "bfloat16"."""
        return str(self.table.dtype).removeprefix("torch.")

    @cached_property
    def exact_table(self) -> torch.Tensor:
        """`table` as `exact`: a gradient is multiplied by it again and again."""
        return exact(self.table)

    @property
    def rows_at_once(self) -> int:
        """Triggers whose logits there is room for."""
        return max(1, min(MOST_ROWS, MOST_LOGITS // self.table.shape[0]))

    @abstractmethod
    def of_embeddings(self, embeddings: torch.Tensor) -> TargetCosts:
        """The costs of triggers given by the embeddings of the places that are not held, (rows, free - held, width)."""

    @abstractmethod
    def after(self, ids: Sequence[int]) -> TargetCosts:
        """The costs after one whole prompt, (1, m), by the network as it is, with nothing shared or cut off.

        Raises `ModelError` for a prompt that the model does not hold.
        """

    @abstractmethod
    def reply(self, ids: Sequence[int], most: int) -> tuple[int, ...]:
        """The greedy reply to a whole prompt, at most so many ids, with the token that ends it where it ends."""

    def attention(self, ids: Sequence[int]) -> tuple[tuple[float, ...], ...] | None:
        """For each token of the target, how it weighed the whole prompt; None without attention, () where unknown."""
        return ()

    def take(self, rows: slice) -> Self:
        """The losses of some rows; the same where all rows have one target."""
        return self

    def plainly(self, trigger: Sequence[int]) -> TargetCosts:
        """The costs of one trigger (see `after`)."""
        return self.after(self.prompt.ids(trigger))

    def greedy(self, trigger: Sequence[int], most: int) -> tuple[int, ...]:
        """The greedy reply to one trigger (see `reply`)."""
        return self.reply(self.prompt.ids(trigger), most)

    def hold(self, trigger: Sequence[int], places: int) -> None:
        """From now on all triggers begin with the first `places` tokens of this one."""
        self.held = 0

    def embed(self, triggers: torch.Tensor) -> torch.Tensor:
        """(rows, free - held, width): the embeddings of triggers, without their first `held` tokens, the held ones."""
        return torch.nn.functional.embedding(triggers[:, self.held :].to(self.device), self.table)

    @torch.no_grad()
    def of_triggers(self, triggers: torch.Tensor) -> TargetCosts:
        """The costs of each trigger."""
        parts, step = [], self.rows_at_once
        for first in range(0, len(triggers), step):
            rows = slice(first, first + step)
            parts.append(self.take(rows).of_embeddings(self.embed(triggers[rows])))
        return TargetCosts(torch.cat([part.costs for part in parts]), torch.cat([part.leads for part in parts]))


class InputCosts(ABC):
    """The oddness of a trigger itself: its cost for a judge as a text of its own, in nats a token.

    has_gradient: whether the judge reads the trigger's own ids; table: (vocabulary, width), their embeddings there.
    """

    has_gradient: bool
    table: torch.Tensor

    @cached_property
    def exact_table(self) -> torch.Tensor:
        """`table` as `exact`."""
        return exact(self.table)

    @abstractmethod
    def mean_costs(self, triggers: torch.Tensor) -> torch.Tensor:
        """(rows,): of triggers int64 (rows, free)."""

    @abstractmethod
    def slopes(self, triggers: torch.Tensor) -> InputSlopes:
        """How the mean costs change with the tokens of triggers int64 (rows, free)."""

    @abstractmethod
    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """(count, vocabulary), of the judge's states (count, ...) that `InputSlopes` has."""

    @abstractmethod
    def read(self, text: str) -> list[int]:
        """The ids of a text in the slot for the judge."""

    @abstractmethod
    def text_costs(self, read: Sequence[int]) -> list[float]:
        """The costs of the last of these ids, as many as are judged. Raises `ModelError` for too many."""

    @abstractmethod
    def tokens(self, read: Sequence[int]) -> tuple[str, ...]:
        """The text of each id."""


@dataclass
class InputSlopes(RowBatch):
    """How the mean cost of each input changes with the share of each token at each place.

    A token is read at its place, which has a gradient; and it is predicted there, at a cost that is linear in the
    shares. mean: (rows,), the costs themselves. gradient: (rows, free, width), by what is read. states: (rows,
    predicted, ...), from which the last so many places are predicted. length: the divisor of the sum of costs.
    """

    mean: torch.Tensor
    gradient: torch.Tensor
    states: torch.Tensor
    costs: InputCosts
    length: int

    @torch.no_grad()
    def at(self, place: int) -> torch.Tensor:
        """(rows, vocabulary)."""
        slopes = exact(self.gradient[:, place]) @ self.costs.exact_table.T
        predicted = place - self.gradient.shape[1] + self.states.shape[1]
        if predicted >= 0:
            logits = self.costs.logits(self.states[:, predicted])
            slopes = slopes - torch.log_softmax(logits, dim=1) / self.length
        return slopes
