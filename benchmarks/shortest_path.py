"""Best-first search against expanding the same nodes one at a time, each from its first token.

    python -m benchmarks.shortest_path [--query url|date|both] [--dtype float32|bfloat16] [--sample 150]

For each query: the search as it is; then a sample of the same nodes that it expanded, one forward a node without a
key/value cache and without a batch, in the same process; CPU seconds a node of both, and their ratio. Also: tokens
computed for each needed expansion (of at least the rank of the last match), the share of wall time inside the model,
and the seconds to the first match.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from benchmarks import machine, questions
from relens import Limits, Query, ShortestPath, load_model, search
from relens.models.language_model import LanguageModel
from relens.models.scoring import Scorer


class Recorder:
    """Remembers the nodes that a scorer has scored."""

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer
        self.scored: list[int] = []
        self._log_probs = scorer.log_probs
        scorer.log_probs = self.log_probs  # type: ignore[method-assign]

    def log_probs(self, nodes: Sequence[int]) -> torch.Tensor:
        self.scored.extend(nodes)
        return self._log_probs(nodes)


class RecordedModel:
    """A model whose scorers are recorded."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.recorders: list[Recorder] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def scorer(self, **arguments: Any) -> Scorer:
        scorer = self._model.scorer(**arguments)
        self.recorders.append(Recorder(scorer))
        return scorer


def one_at_a_time(model: LanguageModel, paths: list[list[int]]) -> float:
    """CPU seconds a node of a plain forward over each path, logits and softmax of its last position."""
    begun = time.process_time()
    with torch.inference_mode():
        for path in paths:
            logits = model.network(input_ids=torch.tensor([path], device=model.device), use_cache=False).logits
            torch.log_softmax(logits[0, -1].float(), dim=-1)
    return (time.process_time() - begun) / len(paths)


def measure(model: LanguageModel, query: Query, matches: int, sample: int) -> dict[str, Any]:
    recorded = RecordedModel(model)
    begun, cpu_begun = time.perf_counter(), time.process_time()
    run = search(recorded, query, ShortestPath(rank="conditional"), Limits(matches=matches, expansions=None))  # type: ignore[arg-type]
    first, all_matches = None, []
    for match in run:
        first = first if first is not None else time.perf_counter() - begun
        all_matches.append(match)
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu_begun
    progress = run.progress

    recorder = recorded.recorders[0]
    tree = recorder.scorer.tree
    needed = run.needed_expansions(all_matches[-1].decoder_log_prob)
    chosen = random.Random(0).sample(recorder.scored, min(sample, len(recorder.scored)))
    begin = [] if model.begin_of_text is None else [model.begin_of_text]
    cpu_single = one_at_a_time(model, [begin + tree.path(node) for node in chosen if begin or node])
    return {
        "matches": len(all_matches),
        "seconds": round(wall, 2),
        "seconds_to_first_match": round(first or 0.0, 3),
        "cpu_seconds": round(cpu, 2),
        "expansions": progress.expansions,
        "expansions_needed": needed,
        "forwards": progress.forwards,
        "tokens_computed": progress.tokens_computed,
        "tokens_computed_for_each_needed_expansion": round(progress.tokens_computed / needed, 2),
        "share_of_wall_time_inside_the_model": round(progress.seconds_model / wall, 3),
        "cpu_milliseconds_a_node": round(1e3 * cpu / progress.expansions, 2),
        "cpu_milliseconds_a_node_one_at_a_time": round(1e3 * cpu_single, 2),
        "nodes_timed_one_at_a_time": len(chosen),
        "cpu_ratio_for_the_same_nodes": round(cpu / progress.expansions / cpu_single, 4),
        "cpu_ratio_if_only_needed_nodes_were_expanded": round(cpu / needed / cpu_single, 4),
        "best": [round(all_matches[0].decoder_log_prob, 4), all_matches[0].text],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--query", choices=["url", "date", "both"], default="both")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--sample", type=int, default=150)
    options = parser.parse_args()
    model = load_model(options.model, dtype=options.dtype)
    # One forward before the clock starts: the first call of a process sets up threads and buffers.
    list(search(model, replace(questions.URL_QUERY, pattern="a"), limits=Limits(matches=1)))
    result: dict[str, Any] = {"model": options.model, "dtype": options.dtype}
    if options.query != "date":
        result["url, top-k 40, first 50"] = measure(model, questions.URL_QUERY, 50, options.sample)
    if options.query != "url":
        result["date, no rule, all encodings, first 10"] = measure(model, questions.DATE_QUERY, 10, options.sample)
    machine.report("shortest_path", result)


if __name__ == "__main__":
    main()
