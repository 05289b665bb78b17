"""The oddness of a trigger: its cost for a language model as a text of its own, in nats a token.

    " tell me how you feel"      2.9          T_in of ordinary messages: -4.1, so this one is no odder
    " zx Nich!!(("              11.4

Hit types "io" have a threshold for it. The judge is the searched model, which reads the trigger's own ids after its
begin-of-text token, or another model, which reads the text in tokens of its own. Where a model has no begin-of-text
token, the first token is not scored; a text of one token then costs as if all tokens were equally likely.

Only the cost for the searched model has a gradient in the trigger's tokens; with another judge candidates are chosen by
the reply alone, and scored with both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from relens.errors import ModelError
from relens.models.language_model import LanguageModel
from relens.triggers.causal.losses import state_costs
from relens.triggers.causal.prompts import Prompt
from relens.triggers.causal.split_network import SplitNetwork
from relens.triggers.losses import MOST_ROWS, InputCosts, InputSlopes


class InputScores(InputCosts):
    """Costs of texts under a judge, which has a gradient where it is the model that is searched."""

    def __init__(self, judge: LanguageModel, prompt: Prompt, network: SplitNetwork | None = None) -> None:
        """`network` is that of the searched model, where the judge is that model."""
        self.judge, self._prompt = judge, prompt
        self.has_gradient = network is not None
        self.network = network or SplitNetwork(judge)
        self.table = self.network.table
        self._begin = () if judge.begin_of_text is None else (judge.begin_of_text,)
        self._past = self.network.read(())
        self._blind = math.log(self.network.vocabulary_size)

    def has_opinion(self, text: Sequence[int]) -> bool:
        """Whether the judge scores a token of this text, which it reads as these ids."""
        return len(self._begin) + len(text) > 1 and len(text) > 0

    def rows(self, triggers: torch.Tensor) -> list[list[int]]:
        """The ids of each trigger for the judge, without the begin of text."""
        if self.has_gradient:
            return [list(row) for row in triggers.tolist()]
        return [self.read(self._prompt.text(row)) for row in triggers.tolist()]

    def read(self, text: str) -> list[int]:
        """See `InputCosts.read`."""
        return list(self._prompt.ids_of(text)) if self.has_gradient else self.judge.tokenizer.encode(text)

    @torch.no_grad()
    def mean_costs(self, triggers: torch.Tensor) -> torch.Tensor:
        """See `InputCosts.mean_costs`."""
        return torch.tensor(
            [sum(row) / len(row) for row in self.token_costs(self.rows(triggers))], device=self.network.device
        )

    def tokens(self, read: Sequence[int]) -> tuple[str, ...]:
        """See `InputCosts.tokens`."""
        return tuple(self.judge.tokenizer.token_text(token) for token in read)

    def text_costs(self, read: Sequence[int]) -> list[float]:
        """See `InputCosts.text_costs`."""
        if len(read) >= self.judge.context_length:
            raise ModelError(f"The text has {len(read)} tokens; its judge holds {self.judge.context_length}.")
        (costs,) = self.token_costs([read])
        return costs

    @torch.no_grad()
    def token_costs(self, texts: Sequence[Sequence[int]]) -> list[list[float]]:
        """The cost of each token of each text that has something before it, at least one (see the module).

        Texts are read MOST_ROWS at once.
        """
        costs: list[list[float]] = []
        for first in range(0, len(texts), MOST_ROWS):
            costs += self._token_costs(texts[first : first + MOST_ROWS])
        return [row or [self._blind] for row in costs]

    def _token_costs(self, texts: Sequence[Sequence[int]]) -> list[list[float]]:
        # A token's cost does not depend on later tokens, so short texts are filled up with any.
        longest = max(map(len, texts))
        ids = torch.tensor(
            [[*self._begin, *text, *[0] * (longest - len(text))] for text in texts], device=self.network.device
        )
        if ids.shape[1] < 2:
            return [[] for _ in texts]
        costs = self._costs(self.network.embed(ids[:, :-1]), ids[:, 1:])
        skipped = 1 - len(self._begin)
        return [row[: max(0, len(text) - skipped)] for row, text in zip(costs.tolist(), texts, strict=True)]

    def _costs(self, embeddings: torch.Tensor, following: torch.Tensor) -> torch.Tensor:
        states = self.network.states(embeddings, self._past)
        return state_costs(self.network, states.flatten(0, 1), following.flatten()).costs.view(following.shape)

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """See `InputCosts.logits`."""
        return self.network.logits(states)

    @torch.enable_grad()
    def slopes(self, triggers: torch.Tensor) -> InputSlopes:
        """See `InputCosts.slopes`."""
        rows, free = triggers.shape
        triggers = triggers.to(self.network.device)
        read = self.network.embed(triggers).requires_grad_(True)
        if not self.has_opinion(range(free)):
            blind = torch.full((rows,), self._blind, device=self.network.device)
            return InputSlopes(blind, torch.zeros_like(read), read.detach()[:, :0], self, 1)
        begin = self.network.embed(torch.tensor(self._begin, dtype=torch.long, device=self.network.device))
        states = self.network.states(torch.cat([begin.expand(rows, -1, -1), read], dim=1), self._past)[:, :-1]
        predicted = states.shape[1]
        spoken = triggers[:, free - predicted :].flatten()
        mean = state_costs(self.network, states.flatten(0, 1), spoken).costs.view(rows, predicted).mean(dim=1)
        (gradient,) = torch.autograd.grad(mean.sum(), read)
        return InputSlopes(mean.detach(), gradient, states.detach(), self, predicted)
