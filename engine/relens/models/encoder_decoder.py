"""A model that turns one sequence into another, such as T5 or BART, with its tokenizer.

It has no opinion on its input, so nothing that walks automata can use it; `relens.triggers.causal` asks which inputs
make it say something. Loading one is in `relens.models.loading`, by the rules that hold for all models.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch

from relens.errors import ModelError
from relens.tokens.tokenizer import Tokenizer


class EncoderDecoder:
    """name: as requested. network: the torch module of transformers. start: id of the token before each reply.

    fingerprint: as that of a `LanguageModel`. context_length: most tokens of an input and of a reply, None where there
    is no limit. Raises `ModelError` for a network that does not say which token begins a reply.
    """

    def __init__(self, name: str, tokenizer: Tokenizer, network: torch.nn.Module, *, fingerprint: str) -> None:
        self.name, self.tokenizer, self.network, self.fingerprint = name, tokenizer, network, fingerprint
        configuration = cast(Any, network).config
        start = getattr(configuration, "decoder_start_token_id", None)
        if not getattr(configuration, "is_encoder_decoder", False) or start is None:
            raise ModelError(f"The model {name!r} is not an encoder-decoder that says which token begins a reply.")
        self.start = int(start)
        longest = getattr(configuration, "max_position_embeddings", None)
        self.context_length: int | None = None if longest is None else int(longest)

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return next(self.network.parameters()).device

    @torch.inference_mode()
    def reply_log_probs(self, input_ids: Sequence[int], reply: Sequence[int]) -> torch.Tensor:
        """(reply,): the log-probability of each token of a reply to an input, nats, float32."""
        said = torch.tensor([[self.start, *reply[:-1]]], device=self.device)
        read = torch.tensor([list(input_ids)], device=self.device)
        logits = self.network(input_ids=read, decoder_input_ids=said, use_cache=False).logits[0].float()
        own = torch.tensor(list(reply), device=self.device)
        return torch.log_softmax(logits, dim=-1).gather(1, own[:, None])[:, 0]
