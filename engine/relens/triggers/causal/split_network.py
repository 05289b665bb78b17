"""A causal network in two halves, so that shared work is done once, and needless work is left out.

    ids -> embeddings -> [ layers, over keys and values of the past ] -> states -> [ output layer ] -> logits

A search changes a few tokens in the middle of a prompt and needs the logits in the places of the target. So the part
before them is read once, and its keys and values are lent to every candidate; and the output layer, a fifth of all
the work, is applied to chosen states only, laid out as one matrix: a batch of slices would be multiplied one by one,
with a copy of the weights for each on a CPU, which takes five times as long.

Some architectures do more than a matrix product after their last layer (a scale, a cap). A trial
detects this: where the halves do not give the network's own logits, the whole network is used. Where a model's past is
not keys and values (see `relens.models.check`), it is read anew each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from transformers.cache_utils import DynamicCache

from relens.errors import ModelError
from relens.models.language_model import LanguageModel

#: The largest difference of logits that counts as rounding, as a part of their spread.
_ROUNDING = {torch.float32: 1e-4, torch.bfloat16: 0.05, torch.float16: 0.01}


@dataclass(frozen=True)
class Past:
    """The past: ids, and their keys and values a layer, each (1, heads, tokens, size), where kept."""

    ids: tuple[int, ...] = ()
    layers: tuple[tuple[torch.Tensor, torch.Tensor], ...] | None = None


class SplitNetwork:
    """The halves of a model's network. table: (vocabulary, width), the embedding of every token.

    keeps_past: whether the past is kept as keys and values.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.device = model.device
        self._network = cast(Any, model.network)
        self.keeps_past = not model.fallback
        embedding: Any = self._network.get_input_embeddings()
        size = embedding.weight.shape[0]
        if type(embedding) is torch.nn.Embedding:
            self.table: torch.Tensor = embedding.weight.detach()
        else:  # which may scale the table
            with torch.no_grad():
                self.table = embedding(torch.arange(size, device=self.device))
        self.vocabulary_size = size
        self._body, self._head = self._halves(model.dtype)

    @torch.no_grad()
    def _halves(self, dtype: torch.dtype) -> tuple[Any, Any]:
        body, head = self._network.base_model, self._network.get_output_embeddings()
        if body is self._network or head is None:
            return None, None
        trial = self.embed(torch.arange(4, device=self.device)[None] % self.vocabulary_size)
        whole = self._network(inputs_embeds=trial).logits[0].float()
        try:
            halves = head(body(inputs_embeds=trial).last_hidden_state)[0].float()
            difference, spread = float((whole - halves).abs().max()), float(whole.max() - whole.min())
        except Exception:  # an architecture of other parts
            return None, None
        return (body, head) if difference <= _ROUNDING[dtype] * spread else (None, None)

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        """(..., width): the embeddings of ids (...)."""
        return torch.nn.functional.embedding(ids, self.table)

    def states(self, embeddings: torch.Tensor, past: Past) -> torch.Tensor:
        """The states of embeddings (rows, tokens, width) after `past`: (rows, tokens, ...), for `logits`."""
        arguments: dict[str, Any] = {}
        rows, tokens = embeddings.shape[:2]
        if past.layers is not None:
            arguments = {"past_key_values": _lent(past, rows), "use_cache": True}
        elif past.ids:
            before = self.embed(torch.tensor(past.ids, device=self.device))
            embeddings = torch.cat([before.expand(rows, -1, -1), embeddings], dim=1)
        try:
            if self._body is None:
                states = self._network(inputs_embeds=embeddings, **arguments).logits
            else:
                states = self._body(inputs_embeds=embeddings, **arguments).last_hidden_state
        except torch.OutOfMemoryError as error:
            raise ModelError(
                f"{self.device} ran out of memory on {rows} prompts at once; take a smaller batch."
            ) from error
        return states[:, -tokens:]  # type: ignore[no-any-return]

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """(count, vocabulary), float32, of states (count, ...) of any places."""
        return (states if self._body is None else self._head(states)).float()

    @torch.no_grad()
    def read(self, ids: Sequence[int], past: Past | None = None) -> Past:
        """The past with these ids read after it."""
        past = past or Past()
        together = (*past.ids, *ids)
        if not self.keeps_past or not ids:
            return Past(together, past.layers)
        cache = _lent(past, 1)
        embeddings = self.embed(torch.tensor([list(ids)], device=self.device))
        (self._body or self._network)(inputs_embeds=embeddings, past_key_values=cache, use_cache=True)
        return Past(together, tuple((layer.keys, layer.values) for layer in cache.layers))


def _lent(past: Past, rows: int) -> Any:
    """A cache of the past for so many rows, without a copy; later tokens go into copies."""
    cache = DynamicCache()
    for number, (keys, values) in enumerate(past.layers or ()):
        cache.update(keys.expand(rows, -1, -1, -1), values.expand(rows, -1, -1, -1), number)
    return cache
