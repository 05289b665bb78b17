"""Distinct matches a second: best-first search against sampling with `generate()`.

    python -m benchmarks.extraction [--seconds 20] [--batch 64]

Both continue `https://www.` under top-k 40 with the same model for the same seconds. A sample of n new tokens counts
when the URL pattern matches at its start (the longest such match is taken); only distinct strings count, for both. The
sampler runs for n = 1, 2, 4, ... 64, once with one sample a call, as ReLM's baseline did, and once with a batch of
samples a call; the search is compared with the best n of each.

In ReLM section 4.1 every match was also looked up on the web, and only existing addresses counted. Here every string in
the form of an address counts, which flatters the sampler.
"""

from __future__ import annotations

import argparse
import re
import time
from typing import Any

import torch

from benchmarks import machine, questions
from relens import Limits, load_model, search
from relens.models.language_model import LanguageModel

PREFIX = "https://www."


def sampled(model: LanguageModel, new_tokens: int, seconds: float, batch: int) -> dict[str, Any]:
    """Distinct matches among samples of `new_tokens` tokens."""
    pattern = re.compile(questions.URL_QUERY.pattern)
    begin = [] if model.begin_of_text is None else [model.begin_of_text]
    prompt = torch.tensor([begin + model.tokenizer.encode(PREFIX)] * batch, device=model.device)
    torch.manual_seed(0)
    distinct: set[str] = set()
    attempts = matched = 0
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds:
        with torch.inference_mode():
            output = model.network.generate(  # type: ignore[operator]
                prompt,
                attention_mask=torch.ones_like(prompt),
                do_sample=True,
                top_k=40,
                top_p=1.0,
                temperature=1.0,
                max_new_tokens=new_tokens,
                min_new_tokens=new_tokens,
                pad_token_id=model.end_of_text,
            )
        for row in output[:, prompt.shape[1] :].tolist():
            attempts += 1
            hit = pattern.match(model.tokenizer.decode(row))
            if hit:
                matched += 1
                distinct.add(hit.group())
    elapsed = time.perf_counter() - begun
    return {
        "new_tokens": new_tokens,
        "attempts": attempts,
        "matched": matched,
        "distinct": len(distinct),
        "duplicates_among_matched": round(1 - len(distinct) / matched, 3) if matched else None,
        "distinct_a_second": round(len(distinct) / elapsed, 3),
    }


def searched(model: LanguageModel, seconds: float) -> dict[str, Any]:
    """Distinct strings that the search finds in the same time."""
    begun = time.perf_counter()
    run = search(model, questions.URL_QUERY, limits=Limits(matches=None, expansions=None, seconds=seconds))
    strings = {match.text for match in run}
    elapsed = time.perf_counter() - begun
    return {
        "matches": run.progress.matches,
        "distinct": len(strings),
        "distinct_a_second": round(len(strings) / elapsed, 3),
        "forwards": run.progress.forwards,
        "tokens_computed": run.progress.tokens_computed,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--batch", type=int, default=64)
    options = parser.parse_args()
    model = load_model(options.model, dtype=options.dtype)
    searched(model, 1.0)  # one short run before the clock starts
    result: dict[str, Any] = {
        "model": options.model,
        "dtype": options.dtype,
        "seconds_each": options.seconds,
        "search": searched(model, options.seconds),
    }
    for batch in (1, options.batch):
        samples = [sampled(model, 2**power, options.seconds, batch) for power in range(7)]
        best = max(samples, key=lambda sample: sample["distinct_a_second"])
        rate = best["distinct_a_second"]
        result[f"sampling, {batch} at a time"] = {
            "samples": samples,
            "best_new_tokens": best["new_tokens"],
            "ratio_of_the_search_to_the_best": round(result["search"]["distinct_a_second"] / rate, 2) if rate else None,
        }
    machine.report("extraction", result)


if __name__ == "__main__":
    main()
