"""The same search for an encoder-decoder of transformers: T5, BART, Pegasus.

    encoder reads     before [ trigger ] after </s>
    decoder reads     <start> You are rude          and is to say   You are rude </s>

The encoder looks both ways, so a trigger changes every state of the input: nothing before it can be shared, and `hold`
holds nothing. All else is as for a causal model, so searches and counts are the same. The trigger is scored by another
model, as an encoder-decoder has no opinion on its input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch

from relens.errors import ModelError
from relens.tokens.tokenizer import Tokenizer
from relens.triggers.causal.prompts import Prompt
from relens.triggers.causal.template import Template, make_frame
from relens.triggers.losses import ReplyLosses, TargetCosts, costs_and_leads


def encoder_decoder_prompt(
    tokenizer: Tokenizer, template: Template, target: str, free: int, *, ends: bool = True, ascii_only: bool = True
) -> Prompt:
    """A prompt whose input ends as the tokenizer's end of text says; the template is a plain one."""
    return Prompt(
        make_frame(template),
        tokenizer,
        target,
        free,
        ends=ends,
        ascii_only=ascii_only,
        end_of_input=tokenizer.end_of_text,
    )


class EncoderDecoderLosses(ReplyLosses):
    """The costs under a seq2seq network of transformers, in evaluation mode. Raises `ModelError` for another kind."""

    prompt: Prompt

    def __init__(self, network: torch.nn.Module, prompt: Prompt) -> None:
        self._network = cast(Any, network)
        configuration = self._network.config
        start = getattr(configuration, "decoder_start_token_id", None)
        if not getattr(configuration, "is_encoder_decoder", False) or start is None:
            raise ModelError("The model is not an encoder-decoder that says which token begins a reply.")
        self._longest = getattr(configuration, "max_position_embeddings", None)
        self.prompt = prompt
        self._check_length(prompt.length - len(prompt.target))
        embedding = self._network.get_input_embeddings()
        with torch.no_grad():  # by the module itself, as some scale the table
            ids = torch.arange(embedding.weight.shape[0], device=embedding.weight.device)
            self.table = embedding(ids).detach()
        self._before = torch.tensor(prompt.before, dtype=torch.long, device=self.device)
        self._after = torch.tensor(prompt.after, dtype=torch.long, device=self.device)
        self._target = torch.tensor(prompt.target, device=self.device)
        self._decoder_input = torch.tensor([start, *prompt.target[:-1]], device=self.device)
        self._start = int(start)
        end = getattr(configuration, "eos_token_id", None)
        self.end_ids = () if end is None else (int(end),)

    def of_embeddings(self, embeddings: torch.Tensor) -> TargetCosts:
        """See `ReplyLosses.of_embeddings`."""
        rows = len(embeddings)
        around = [torch.nn.functional.embedding(ids, self.table) for ids in (self._before, self._after)]
        left, right = (part.expand(rows, -1, -1) for part in around)
        logits = self._network(
            inputs_embeds=torch.cat([left, embeddings, right], dim=1),
            decoder_input_ids=self._decoder_input.expand(rows, -1),
            use_cache=False,
        ).logits.float()
        return costs_and_leads(logits, self._target.expand(rows, -1))

    def _check_length(self, read: int) -> None:
        said = len(self.prompt.target)
        if self._longest is not None and max(read, said) > self._longest:
            raise ModelError(
                f"The prompt has {read} tokens, the target {said}; the model holds {self._longest} of each."
            )

    @torch.no_grad()
    def after(self, ids: Sequence[int]) -> TargetCosts:
        """See `ReplyLosses.after`."""
        self._check_length(len(ids))
        read = torch.tensor([list(ids)], device=self.device)
        logits = self._network(input_ids=read, decoder_input_ids=self._decoder_input[None], use_cache=False).logits
        return costs_and_leads(logits.float(), self._target[None])

    @torch.no_grad()
    def reply(self, ids: Sequence[int], most: int) -> tuple[int, ...]:
        """See `ReplyLosses.reply`."""
        encoded = self._network.get_encoder()(input_ids=torch.tensor([list(ids)], device=self.device))
        reply: list[int] = []
        while len(reply) < most:
            said = torch.tensor([[self._start, *reply]], device=self.device)
            logits = self._network(encoder_outputs=encoded, decoder_input_ids=said, use_cache=False).logits
            reply.append(int(logits[0, -1].argmax()))
            if reply[-1] in self.end_ids:
                break
        return tuple(reply)
