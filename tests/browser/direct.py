"""Scores straight from transformers, written without any of the engine's scoring: one forward a sequence, float32."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from relens.models.loading import load_tokenizer
from relens.settings import cache_folder

NAME = "smollm2-135m"


def scores(token_ids: list[int], prefix_tokens: int, top_k: int) -> tuple[float, float, float, str]:
    """Log-probabilities of prefix, of the rest, of the rest under top-k; and the text. In nats."""
    network, tokenizer, begin_of_text = _loaded()
    context = [begin_of_text] if begin_of_text is not None else []
    with torch.no_grad():
        logits = network(torch.tensor([[*context, *token_ids]])).logits[0].double()
    log_probs = logits.log_softmax(-1)
    prefix, plain, decoder = 0.0, 0.0, 0.0
    for place, token in enumerate(token_ids):
        at = place + len(context) - 1
        if at < 0:
            continue
        if place < prefix_tokens:
            prefix += float(log_probs[at, token])
            continue
        plain += float(log_probs[at, token])
        kept = logits[at].topk(top_k)
        assert token in kept.indices.tolist()
        decoder += float(logits[at, token] - kept.values.logsumexp(0))
    return prefix, plain, decoder, tokenizer.decode(token_ids)


@lru_cache(maxsize=1)
def _loaded() -> tuple[Any, Any, int | None]:
    folder = cache_folder() / NAME
    network = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    # Which token begins a text is a convention of the model's family, so it is taken from where the engine states it.
    return network, AutoTokenizer.from_pretrained(folder), load_tokenizer(NAME).begin_of_text
