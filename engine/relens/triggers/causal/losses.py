"""The costs of a target under a language model that continues text.

    before | mean words here | after | You are rude
    read once, with the held     read for each trigger

Keys and values of the shared part are kept: of the prompt up to the trigger, and where triggers differ from one place
on (`hold`), of the trigger up to there.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from relens.errors import ModelError
from relens.models.language_model import LanguageModel
from relens.triggers.causal.prompts import Prompt
from relens.triggers.causal.split_network import SplitNetwork
from relens.triggers.losses import MOST_LOGITS, ReplyLosses, TargetCosts, costs_and_leads


class CausalLosses(ReplyLosses):
    """The costs under a causal model. Raises `ModelError` where prompt and target do not fit its context."""

    prompt: Prompt

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
        self.end_ids = {model.end_of_text, *(ends if isinstance(ends, list) else [ends])} - {None}

    def hold(self, trigger: Sequence[int], places: int) -> None:
        """See `ReplyLosses.hold`. Held tokens are not read again."""
        held = (*self.prompt.before, *(int(token) for token in trigger[:places]))
        shared = 0
        while shared < min(len(held), len(self._past.ids)) and held[shared] == self._past.ids[shared]:
            shared += 1
        if shared < len(self._past.ids):
            self._past, shared = self._before, len(self.prompt.before)
        self._past = self.network.read(held[shared:], self._past)
        self.held = places

    def of_embeddings(self, embeddings: torch.Tensor) -> TargetCosts:
        """See `ReplyLosses.of_embeddings`."""
        rows, length = len(embeddings), len(self._target)
        behind = self.network.embed(self._behind).expand(rows, -1, -1)
        states = self.network.states(torch.cat([embeddings, behind], dim=1), self._past)[:, -length:]
        target = state_costs(self.network, states.flatten(0, 1), self._target.repeat(rows))
        return TargetCosts(target.costs.view(rows, length), target.leads.view(rows, length))

    def _check_length(self, length: int) -> None:
        if length > self.model.context_length:
            raise ModelError(f"Prompt and target have {length} tokens; the model holds {self.model.context_length}.")

    @torch.no_grad()
    def after(self, ids: Sequence[int]) -> TargetCosts:
        """See `ReplyLosses.after`."""
        self._check_length(len(ids) + len(self.prompt.target))
        read = torch.tensor([[*ids, *self.prompt.target[:-1]]], device=self.device)
        logits = self.model.network(read, use_cache=False).logits[0, -len(self._target) :].float()
        target = costs_and_leads(logits, self._target)
        return TargetCosts(target.costs[None], target.leads[None])

    @torch.no_grad()
    def reply(self, ids: Sequence[int], most: int) -> tuple[int, ...]:
        """See `ReplyLosses.reply`."""
        # All but the last token is read; the last one is a step, like those that follow it.
        past, step, reply = self.network.read(ids[:-1]), ids[-1], list[int]()
        for _ in range(min(most, self.model.context_length - len(ids))):
            embeddings = self.network.embed(torch.tensor([[step]], device=self.device))
            states = self.network.states(embeddings, past)
            past = self.network.read((step,), past)
            step = int(self.network.logits(states[:, -1]).argmax())
            reply.append(step)
            if step in self.end_ids:
                break
        return tuple(reply)


def state_costs(network: SplitNetwork, states: torch.Tensor, words: torch.Tensor) -> TargetCosts:
    """The costs of words int64 (count,) in the places with these states, (count, ...); few logits at once."""
    step = max(1, MOST_LOGITS // network.vocabulary_size)
    parts = [
        costs_and_leads(network.logits(some), own)
        for some, own in zip(torch.split(states, step), torch.split(words, step), strict=True)
    ]
    return TargetCosts(torch.cat([part.costs for part in parts]), torch.cat([part.leads for part in parts]))
