"""What a search does besides the model: CPU microseconds an expansion, with a stub in the model's place.

    python -m benchmarks.bookkeeping [--batch 512] [--expansions 20000] [--query NAME] [--profile]

The stub hands out the rows of a fixed random matrix, as sharp as a language model's, and costs next to nothing; the
tokenizer is the embedded model's. An accelerator needs about 40 microseconds for a node of a model as large as GPT-2 XL
at batch 512: what takes longer here leaves it idle. One thread, CPU seconds of this process, compiling excluded.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch

from benchmarks import machine, questions
from relens.models.loading import load_tokenizer
from relens.models.scoring import Scorer, ScoringCounts, TokenTree
from relens.query import Decoding, Edits, Encoding, Limits, Query, Sampling, ShortestPath, Traversal
from relens.query_execution import QueryExecution
from relens.tokens.compiled import compile_query
from relens.traversal.scheduler import Scheduler

#: Different next-token distributions.
ROWS = 257

CASES: dict[str, tuple[Query, Traversal]] = {
    "url, top-k 40": (questions.URL_QUERY, ShortestPath("conditional")),
    "url, no rule": (replace(questions.URL_QUERY, decoding=Decoding()), ShortestPath("conditional")),
    "bias, two edits": (replace(questions.BIAS_QUERY, edits=Edits(distance=2)), ShortestPath("conditional")),
    "10,000 samples, all encodings": (
        replace(questions.BIAS_QUERY, encoding=Encoding.ALL),
        Sampling(10_000),
    ),
    "words, canonical": (
        Query(prefix="It is", pattern=r"( [a-z]+)+\.", encoding=Encoding.CANONICAL),
        ShortestPath("conditional"),
    ),
    "any 10 to 60 characters, canonical, top-k 1,000": (
        Query(prefix="It is", pattern=r".{10,60}\.", encoding=Encoding.CANONICAL, decoding=Decoding(top_k=1_000)),
        ShortestPath("conditional"),
    ),
}


class StubScorer(Scorer):
    """Next-token distributions from a table; the row depends on the node's last token and depth."""

    def __init__(self, table: torch.Tensor) -> None:
        self.tree = TokenTree()
        self.counts = ScoringCounts()
        self.vocabulary_size = table.shape[1]
        self.context_length = 1_024
        self.scores_root = True
        self._table = table

    def log_probs(self, nodes: Sequence[int]) -> torch.Tensor:
        """See `Scorer.log_probs`."""
        begun = time.process_time()
        rows = (self.tree.tokens[nodes].astype("int64") * 31 + self.tree.depths[nodes]) % ROWS
        scores = self._table[torch.from_numpy(rows)]
        self.counts.forwards += 1
        self.counts.tokens_computed += len(nodes)
        self.counts.seconds += time.process_time() - begun
        return scores

    def release(self, nodes: Sequence[int]) -> None:
        """Nothing is held."""


class FixedBatch:
    """The same batch in each round."""

    def __init__(self, size: int) -> None:
        self.size = size

    def observe(self, size: int, seconds: float) -> None:
        """See `BatchSize.observe`."""


def measure(query: Query, traversal: Traversal, tokenizer: Any, table: torch.Tensor, options: Any) -> dict[str, Any]:
    """CPU microseconds an expansion, the stub excluded."""
    limits = Limits(matches=10_000_000, expansions=None, seconds=None)
    compiled = compile_query(query, tokenizer, limits)
    model = SimpleNamespace(
        name="stub", tokenizer=tokenizer, begin_of_text=tokenizer.begin_of_text, end_of_text=tokenizer.end_of_text
    )
    execution = QueryExecution(model, compiled, traversal, limits)  # type: ignore[arg-type]
    scorer = StubScorer(table)
    profile = cProfile.Profile()
    begun = time.process_time()
    if options.profile:
        profile.enable()
    scheduler = Scheduler(((None, begin) for begin in execution.beginnings()), scorer, FixedBatch(options.batch))
    while not scheduler.finished and scorer.counts.tokens_computed < options.expansions:
        scheduler.step(lambda _: None)
    profile.disable()
    seconds = time.process_time() - begun
    if options.profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
    expansions = scorer.counts.tokens_computed
    return {
        "microseconds_an_expansion": round(1e6 * (seconds - scorer.counts.seconds) / expansions, 1),
        "expansions": expansions,
        "rounds": scorer.counts.forwards,
    }


def main() -> None:
    """Measure the cases and print them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--expansions", type=int, default=20_000)
    parser.add_argument("--query", choices=CASES)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = load_tokenizer("smollm2-135m")
    scores = torch.randn((ROWS, len(tokenizer.vocabulary)), generator=torch.Generator().manual_seed(0))
    table = torch.log_softmax(4.0 * scores, dim=-1)
    cases = {options.query: CASES[options.query]} if options.query else CASES
    results = {name: measure(query, by, tokenizer, table, options) for name, (query, by) in cases.items()}
    machine.report("bookkeeping", {"batch": options.batch, **results})


if __name__ == "__main__":
    main()
