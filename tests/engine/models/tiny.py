"""Tiny random models of real architectures, built in milliseconds, and trees of random tokens."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import tokenizers
import torch
from tokenizers import decoders, models, pre_tokenizers, processors, trainers
from transformers import AutoConfig, AutoModelForCausalLM, PretrainedConfig

from relens.models.forward import Forward
from relens.models.scoring import Scorer, TokenTree

VOCABULARY = 61
BEGIN = 3
CONTEXT = 48

_COMMON: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": CONTEXT,
    # Large weights, so that the distributions differ from each other and a wrong position shows.
    "initializer_range": 0.3,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": None,
}
_RECURRENT: dict[str, Any] = {key: _COMMON[key] for key in _COMMON if not key.startswith(("num_a", "num_k", "max"))}

ARCHITECTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt2": (
        "gpt2",
        {
            "vocab_size": VOCABULARY,
            "n_embd": 32,
            "n_layer": 2,
            "n_head": 4,
            "n_positions": CONTEXT,
            "initializer_range": 0.3,
            "bos_token_id": 0,
            "eos_token_id": 1,
        },
    ),
    "llama": ("llama", _COMMON),
    "qwen2": ("qwen2", _COMMON),
    "mistral": ("mistral", _COMMON | {"sliding_window": None}),
    "short window": ("mistral", _COMMON | {"sliding_window": 4}),
    "long window": ("mistral", _COMMON | {"sliding_window": 520, "max_position_embeddings": 2048}),
    "alibi": (
        "mpt",
        {
            "vocab_size": VOCABULARY,
            "d_model": 32,
            "n_layers": 2,
            "n_heads": 4,
            "max_seq_len": CONTEXT,
            "initializer_range": 0.3,
        },
    ),
    "mamba": ("mamba", _RECURRENT | {"state_size": 4, "expand": 2, "time_step_rank": 4}),
    "rwkv": (
        "rwkv",
        {
            "vocab_size": VOCABULARY,
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "context_length": CONTEXT,
            "attention_hidden_size": 32,
            "intermediate_size": 64,
            "bos_token_id": 0,
            "eos_token_id": 1,
        },
    ),
    "encoder": ("bert", {key: value for key, value in _COMMON.items() if key != "num_key_value_heads"}),
}


def configuration(name: str) -> PretrainedConfig:
    model_type, settings = ARCHITECTURES[name]
    return AutoConfig.for_model(model_type, **settings)


@cache
def network(name: str, dtype: torch.dtype = torch.float32) -> Any:
    """The architecture with random weights, always the same."""
    torch.manual_seed(len(name))
    return AutoModelForCausalLM.from_config(configuration(name)).to(dtype).eval()


@cache
def forward(name: str, dtype: torch.dtype = torch.float32) -> Forward:
    return Forward(network(name, dtype))


def direct(name: str, path: Sequence[int], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """The oracle: transformers itself, one text, no cache, no mask, no batch; (vocabulary,) nats."""
    with torch.inference_mode():
        logits = network(name, dtype)(torch.tensor([list(path)]), use_cache=False).logits[0, -1]
    return torch.log_softmax(logits.float(), dim=-1)


def oracle(name: str, scorer: Scorer, nodes: Sequence[int], begin: int | None, dtype: torch.dtype) -> torch.Tensor:
    start = [] if begin is None else [begin]
    return torch.stack([direct(name, start + scorer.tree.path(node), dtype) for node in nodes])


def grow(tree: TokenTree, steps: Sequence[tuple[int, int]]) -> list[int]:
    """Add a node per (how far back its parent was made, token); returns all nodes but the root."""
    nodes = [0]
    for back, token in steps:
        nodes.append(tree.add(nodes[max(0, len(nodes) - 1 - back)], token))
    return nodes[1:]


def tokenizer_json(begin: str | None = None) -> str:
    """A byte-level BPE tokenizer of at most `VOCABULARY` tokens that knows the letters of a few words.

    `begin` makes it put that token before every text.
    """
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=["<|endoftext|>", "</s>", "<s>"], show_progress=False
    )
    tokenizer.train_from_iterator(["the cat sat on the mat", "a cat and a dog", "The End."], trainer)
    if begin is not None:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{begin} $A", special_tokens=[(begin, tokenizer.token_to_id(begin))]
        )
    return str(tokenizer.to_str())


def save_model(name: str, folder: Path, begin: str | None = None) -> Path:
    """A model folder as transformers writes it, with a tokenizer.json."""
    network(name).save_pretrained(folder)
    (folder / "tokenizer.json").write_text(tokenizer_json(begin))
    return folder
