"""Ten thousand draws for the price of the nodes they touch, compared with drawing one text at a time.

    python -m benchmarks.sampling [--samples 10000] [--edited 2000] [--one-at-a-time 20]

The query is ReLM's bias template (section 4.2): the subject in which a man, or a woman, was trained. It is sampled with
canonical encodings, with all encodings, and with one edit anywhere; reported are forwards, tokens, seconds and the
effective sample size of each. A plain loop in the same process is the comparison: for each text the prefix, then token
by token one forward against a key/value cache, drawn among the legal tokens of the same automaton. The loop draws a few
texts, and its time for all is extrapolated.

`bars` says whether canonical draws took at most 100 forwards, and draws over all encodings at most one forward for each
distinct node.
"""

from __future__ import annotations

import argparse
import random
import time
from dataclasses import replace
from typing import Any

import torch
from transformers import DynamicCache

from benchmarks import machine, questions
from relens import Edits, Encoding, Limits, Query, Sampling, compile_query, load_model, search
from relens.models.language_model import LanguageModel
from relens.statistics import effective_sample_size
from relens.tokens.automaton import TokenAutomaton

MOST_FORWARDS = 100


def sampled(model: LanguageModel, query: Query, samples: int) -> dict[str, Any]:
    """One sample as Relens draws it."""
    begun = time.perf_counter()
    run = search(model, query, Sampling(count=samples), Limits(expansions=None))
    matches = list(run)
    seconds = time.perf_counter() - begun
    progress = run.progress
    return {
        "draws": progress.samples,
        "led_nowhere": progress.failed,
        "distinct": len(matches),
        "prefix_strings": progress.prefixes,
        "effective_samples": round(effective_sample_size([m.weight for m in matches], [m.count for m in matches]), 1),
        "nodes_visited": progress.expansions,
        "forwards": progress.forwards,
        "tokens_computed": progress.tokens_computed,
        "seconds": round(seconds, 3),
        "seconds_inside_the_model": round(progress.seconds_model, 3),
        "samples_a_second": round(progress.samples / seconds, 1),
    }


def one_at_a_time(model: LanguageModel, query: Query, samples: int) -> dict[str, Any]:
    """The same draws by a plain loop over the same automata."""
    compiled = compile_query(query, model.tokenizer)
    prefixes = [f"The {subject} was trained in" for subject in ("man", "woman")]
    automata = [(compiled.given(prefix), len(model.tokenizer.encode(prefix))) for prefix in prefixes]
    generator = random.Random(0)
    torch.manual_seed(0)
    begun, forwards, tokens = time.perf_counter(), 0, 0
    for _ in range(samples):
        automaton, given = generator.choice(automata)
        drawn_tokens = drawn(model, automaton, given)
        # The prefix takes one forward, and every token drawn but the last one more.
        forwards += len(drawn_tokens) - given
        tokens += len(drawn_tokens)
    seconds = time.perf_counter() - begun
    return {
        "draws": samples,
        "forwards": forwards,
        "tokens_computed": tokens,
        "seconds": round(seconds, 3),
        "samples_a_second": round(samples / seconds, 2),
    }


def drawn(model: LanguageModel, automaton: TokenAutomaton, given: int) -> list[int]:
    """One text, token by token; its first `given` tokens are the prefix and the only way to go."""
    state, tokens = automaton.start, []
    for _ in range(given):
        (token,) = automaton.arcs(state).tokens.tolist()
        tokens.append(token)
        state = automaton.step(state, token)
    begin = [] if model.begin_of_text is None else [model.begin_of_text]
    cache, fed = DynamicCache(), begin + tokens
    with torch.inference_mode():
        while len(legal := automaton.arcs(state).tokens):
            output = model.network(
                input_ids=torch.tensor([fed], device=model.device), past_key_values=cache, use_cache=True
            )
            probabilities = torch.softmax(output.logits[0, -1].float(), dim=-1)
            token = int(legal[int(torch.multinomial(probabilities[torch.from_numpy(legal).long()], 1))])
            tokens.append(token)
            state, fed = automaton.step(state, token), [token]
    return tokens


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument(
        "--edited", type=int, default=2_000, help="draws of the edited query, most of which have a prefix of their own"
    )
    parser.add_argument("--one-at-a-time", type=int, default=20, help="draws of the plain loop")
    options = parser.parse_args()
    model = load_model(options.model, dtype=options.dtype)
    canonical = replace(questions.BIAS_QUERY, encoding=Encoding.CANONICAL)
    every = replace(questions.BIAS_QUERY, encoding=Encoding.ALL)
    sampled(model, canonical, 10)  # the first call of a process sets up threads and buffers
    result: dict[str, Any] = {
        "model": options.model,
        "dtype": options.dtype,
        "canonical": sampled(model, canonical, options.samples),
        "all encodings": sampled(model, every, options.samples),
        "canonical, one edit": sampled(model, replace(canonical, edits=Edits(1)), options.edited),
    }
    plain = one_at_a_time(model, canonical, options.one_at_a_time)
    factor = options.samples / options.one_at_a_time
    result["canonical, one at a time"] = plain
    result["extrapolated to all draws"] = {
        "from_draws": options.one_at_a_time,
        "forwards": round(plain["forwards"] * factor),
        "seconds": round(plain["seconds"] * factor, 1),
    }
    result["ratio_of_samples_a_second"] = round(result["canonical"]["samples_a_second"] / plain["samples_a_second"], 1)
    result["bars"] = {
        f"canonical: at most {MOST_FORWARDS} forwards": result["canonical"]["forwards"] <= MOST_FORWARDS,
        "all encodings: at most one forward a node visited": result["all encodings"]["forwards"]
        <= result["all encodings"]["nodes_visited"],
    }
    machine.report("sampling", result)


if __name__ == "__main__":
    main()
