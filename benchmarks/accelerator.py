"""Expansions a second on an accelerator, against the raw rate of key/value steps at the same batch.

    python -m benchmarks.accelerator [--batch 256] [--seconds 20] [--small]

The model has the size of GPT-2 XL (1.6 billion weights) and random weights, since speed does not depend on their
values; the vocabulary is GPT-2's own. The raw rate is that of `batch` rows that each take one token a step against a
key/value cache as long as the searched paths, with the softmax that any decoder needs, and nothing else.
--small tries the script itself on a machine without an accelerator.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from transformers import DynamicCache, GPT2Config, GPT2LMHeadModel

from benchmarks import machine, questions
from benchmarks.gpt2 import gpt2_tokenizer
from relens import Limits, load_model, search
from relens.models.language_model import LanguageModel


def make_folder(folder: Path, small: bool) -> None:
    """A GPT-2 of random weights, with GPT-2's vocabulary."""
    tokenizer = gpt2_tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    size = {"n_embd": 64, "n_layer": 2, "n_head": 4} if small else {"n_embd": 1600, "n_layer": 48, "n_head": 25}
    torch.manual_seed(0)
    network = GPT2LMHeadModel(GPT2Config(vocab_size=tokenizer.get_vocab_size(), **size)).to(torch.bfloat16)
    network.save_pretrained(folder)


def raw_rate(model: LanguageModel, batch: int, length: int, seconds: float) -> float:
    """Tokens a second of plain steps: `batch` rows, one token each, against `length` cached tokens."""
    with torch.inference_mode():
        token_ids = torch.randint(0, 1000, (batch, length), device=model.device)
        cache = model.network(input_ids=token_ids, use_cache=True, past_key_values=DynamicCache()).past_key_values

        def step() -> None:
            logits = model.network(input_ids=token_ids[:, :1], past_key_values=cache, use_cache=True).logits
            torch.log_softmax(logits[:, -1].float(), dim=-1)
            cache.crop(-1)

        for _ in range(3):
            step()
        synchronize(model)
        begun, steps = time.perf_counter(), 0
        while time.perf_counter() - begun < seconds:
            step()
            synchronize(model)
            steps += 1
        return steps * batch / (time.perf_counter() - begun)


def synchronize(model: LanguageModel) -> None:
    if model.device.type == "cuda":
        torch.cuda.synchronize()


def searched(model: LanguageModel, seconds: float) -> dict[str, Any]:
    limits = Limits(matches=None, expansions=None, seconds=seconds, pool_bytes=8 << 30)
    run = search(model, questions.URL_QUERY, limits=limits)
    matches = sum(1 for _ in run)
    progress = run.progress
    return {
        "matches": matches,
        "expansions": progress.expansions,
        "forwards": progress.forwards,
        "mean_batch": round(progress.tokens_computed / progress.forwards, 1),
        "expansions_a_second": round(progress.expansions / progress.seconds_total, 1),
        "share_inside_the_model": round(progress.seconds_model / progress.seconds_total, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--length", type=int, default=12, help="cached tokens in the raw rate")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    if not torch.cuda.is_available() and not options.small:
        sys.exit("This benchmark needs an accelerator, and this machine has none. (--small tries the script itself.)")
    with tempfile.TemporaryDirectory() as folder:
        make_folder(Path(folder), options.small)
        model = load_model(folder)
    searched(model, min(3.0, options.seconds))
    searched_rates = searched(model, options.seconds)
    raw = raw_rate(model, options.batch, options.length, min(5.0, options.seconds))
    machine.report(
        "accelerator",
        {
            "weights": sum(weights.numel() for weights in model.network.parameters()),
            "dtype": str(model.dtype),
            "fallback": model.fallback,
            "search": searched_rates,
            "raw_tokens_a_second": round(raw, 1),
            "raw_batch": options.batch,
            "ratio": round(searched_rates["expansions_a_second"] / raw, 3),
        },
    )


if __name__ == "__main__":
    main()
