"""What does the target cost under each of many triggers?

    before | mean words here | after | You are rude     2.1   0.3   4.0
             mean words this                            2.0   0.3   4.4
             mean words that                            2.9   0.6   3.8      costs in nats, -log P of each token

Every candidate of one step has the same length, so there is no padding and no mask. What all of them share is read
once: always the prompt up to the trigger, and where they differ from one place on (`hold`), the trigger up to there.

`ReplyLosses` is what a search knows of a model; `CausalLosses` fills it for causal ones, and
`engine.triggers.causal.encoder_decoder` for encoder-decoders.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from engine.errors import ModelError
from engine.models.language_model import LanguageModel
from engine.triggers.causal.prompts import Prompt
from engine.triggers.causal.split_network import SplitNetwork

#: Logits that are computed at once, and prompts.
MOST_LOGITS, MOST_ROWS = 1 << 24, 64


@dataclass(frozen=True)
class TargetCosts:
    """costs, leads: (rows, m), nats; a lead is how far the target's token is ahead of the best other one."""

    costs: torch.Tensor
    leads: torch.Tensor


class ReplyLosses(ABC):
    """Costs of one prompt's target, for triggers int64 (rows, free). held: places of a trigger that all share."""

    prompt: Prompt
    #: (vocabulary, width), the embedding that each token has where it stands in a trigger.
    table: torch.Tensor
    held: int = 0

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
        """`table` in float32: a gradient is multiplied by it again and again."""
        return self.table.float()

    @abstractmethod
    def of_embeddings(self, embeddings: torch.Tensor) -> TargetCosts:
        """The costs of triggers given by the embeddings of the places that are not held, (rows, free - held, width)."""

    @abstractmethod
    def after(self, prompt_ids: Sequence[int]) -> TargetCosts:
        """The costs after one whole prompt, (1, m), by the network as it is, with nothing shared or cut off.

        Raises `ModelError` for a prompt that the model does not hold.
        """

    @abstractmethod
    def reply(self, prompt_ids: Sequence[int], most: int) -> tuple[int, ...]:
        """The greedy reply to a whole prompt, at most so many ids, with the token that ends it where it ends."""

    def plainly(self, trigger: Sequence[int]) -> TargetCosts:
        """The costs of one trigger (see `after`)."""
        return self.after(self.prompt.ids(trigger))

    def greedy(self, trigger: Sequence[int], most: int) -> tuple[int, ...]:
        """The greedy reply to one trigger (see `reply`)."""
        return self.reply(self.prompt.ids(trigger), most)

    def hold(self, trigger: Sequence[int], places: int) -> None:
        """From now on all triggers begin with the first `places` tokens of this one."""
        self.held = 0

    @torch.no_grad()
    def of_triggers(self, triggers: torch.Tensor) -> TargetCosts:
        """The costs of each trigger; their first `held` tokens are taken for those that are held."""
        rows = max(1, min(MOST_ROWS, MOST_LOGITS // self.table.shape[0]))
        found = [
            self.of_embeddings(torch.nn.functional.embedding(part[:, self.held :].to(self.device), self.table))
            for part in torch.split(triggers, rows)
        ]
        return TargetCosts(torch.cat([part.costs for part in found]), torch.cat([part.leads for part in found]))


class CausalLosses(ReplyLosses):
    """The costs under a causal model. Raises `ModelError` where prompt and target do not fit its context."""

    def __init__(self, model: LanguageModel, prompt: Prompt, network: SplitNetwork | None = None) -> None:
        self.model, self.prompt = model, prompt
        self._check_length(prompt.length)
        self.network = network or SplitNetwork(model)
        self.table = self.network.table
        self._before = self.network.read(prompt.before)
        self._past = self._before
        self._behind = torch.tensor([*prompt.after, *prompt.target[:-1]], dtype=torch.long, device=self.device)
        self._target = torch.tensor(prompt.target, device=self.device)
        ends = getattr(getattr(model.network, "generation_config", None), "eos_token_id", None)
        self._ends = {model.end_of_text, *(ends if isinstance(ends, list) else [ends])} - {None}

    def hold(self, trigger: Sequence[int], places: int) -> None:
        """See `ReplyLosses.hold`. What is held already is not read again."""
        wanted = (*self.prompt.before, *(int(token) for token in trigger[:places]))
        shared = 0
        while shared < min(len(wanted), len(self._past.ids)) and wanted[shared] == self._past.ids[shared]:
            shared += 1
        if shared < len(self._past.ids):
            self._past, shared = self._before, len(self.prompt.before)
        self._past = self.network.read(wanted[shared:], self._past)
        self.held = places

    def of_embeddings(self, embeddings: torch.Tensor) -> TargetCosts:
        """See `ReplyLosses.of_embeddings`."""
        rows, length = len(embeddings), len(self._target)
        behind = self.network.embed(self._behind).expand(rows, -1, -1)
        states = self.network.states(torch.cat([embeddings, behind], dim=1), self._past)[:, -length:]
        return target_costs(self.network, states, self._target)

    def _check_length(self, length: int) -> None:
        if length > self.model.context_length:
            raise ModelError(f"Prompt and target have {length} tokens; the model holds {self.model.context_length}.")

    @torch.no_grad()
    def after(self, prompt_ids: Sequence[int]) -> TargetCosts:
        """See `ReplyLosses.after`."""
        self._check_length(len(prompt_ids) + len(self.prompt.target))
        ids = torch.tensor([[*prompt_ids, *self.prompt.target[:-1]]], device=self.device)
        logits = self.model.network(ids, use_cache=False).logits[0, -len(self._target) :].float()
        costs, leads = costs_of_logits(logits, self._target), leads_of_logits(logits, self._target)
        return TargetCosts(costs[None], leads[None])

    @torch.no_grad()
    def reply(self, prompt_ids: Sequence[int], most: int) -> tuple[int, ...]:
        """See `ReplyLosses.reply`."""
        # All but the last token is read; the last one is a step, like those that follow it.
        past, step, reply = self.network.read(prompt_ids[:-1]), prompt_ids[-1], list[int]()
        for _ in range(min(most, self.model.context_length - len(prompt_ids))):
            embeddings = self.network.embed(torch.tensor([[step]], device=self.device))
            states = self.network.states(embeddings, past)
            past = self.network.read((step,), past)
            step = int(self.network.logits(states[:, -1]).argmax())
            reply.append(step)
            if step in self._ends:
                break
        return tuple(reply)


def target_costs(network: SplitNetwork, states: torch.Tensor, target: torch.Tensor) -> TargetCosts:
    """The costs of target int64 (m,) in the places whose states these are, (rows, m, ...)."""
    rows, length = states.shape[:2]
    flat, words = states.reshape(rows * length, -1), target.repeat(rows)
    step = max(1, MOST_LOGITS // network.vocabulary_size)
    parts = [
        _costs_and_leads(network.logits(some), own)
        for some, own in zip(torch.split(flat, step), torch.split(words, step), strict=True)
    ]
    costs, leads = (torch.cat(part).view(rows, length) for part in zip(*parts, strict=True))
    return TargetCosts(costs, leads)


def _costs_and_leads(logits: torch.Tensor, words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return costs_of_logits(logits, words), leads_of_logits(logits.detach(), words)


def costs_of_logits(logits: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
    """(count,): -log P of each word under logits (count, vocabulary)."""
    return torch.logsumexp(logits, dim=1) - logits.gather(1, words[:, None])[:, 0]


def leads_of_logits(logits: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
    """(count,): how far each word is ahead of the best other one."""
    two, which = logits.topk(2, dim=1)
    own = logits.gather(1, words[:, None])[:, 0]
    return own - torch.where(which[:, 0] == words, two[:, 1], two[:, 0])
