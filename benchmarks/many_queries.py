"""Hundreds of queries about hundreds of texts, together and one by one.

    python -m benchmarks.many_queries [--queries 500] [--alone 25] [--words 60]

Each query has a passage as its prefix and takes the five likeliest next words: the cloze test of ReLM section 4.4 with
its pattern "baseline", under top-k 1000. The passages are from the reference documentation inside Python
(`pydoc_data.topics`), so everybody has them. Reported: the share of wall time inside the model; seconds a query
together, and one by one for a sample of the same queries in the same run; and whether the answers are the same.
"""

from __future__ import annotations

import argparse
import re
import time
from pydoc_data.topics import topics
from typing import Any

from benchmarks import machine
from relens import Decoding, Limits, Query, ShortestPath, load_model, search, search_many
from relens.models.language_model import LanguageModel

PATTERN = r" ([a-zA-Z]+)(\.|!|\?)?(\")?"
MATCHES = 5


def passages(count: int, words: int) -> list[str]:
    """`count` passages of `words` words, from the prose of Python's documentation."""
    paragraphs = [
        " ".join(paragraph.split())
        for text in topics.values()
        for paragraph in text.split("\n\n")
        if not paragraph.startswith((" ", "*", "-", "+", "|", ">"))
    ]
    prose = " ".join(paragraph for paragraph in paragraphs if len(paragraph) > 120).split(" ")
    step = (len(prose) - words) // count
    return [" ".join(prose[place * step : place * step + words]) for place in range(count)]


def measure(model: LanguageModel, queries: list[Query], alone: int) -> dict[str, Any]:
    traversal, limits = ShortestPath(rank="conditional"), Limits(matches=MATCHES, seconds=None)
    begun = time.perf_counter()
    run = search_many(model, queries, traversal, limits)
    answers = {answer.number: answer for answer in run}
    seconds = time.perf_counter() - begun
    progress = run.progress
    chosen = range(0, len(queries), max(1, len(queries) // alone))
    begun, same, largest, forwards = time.perf_counter(), 0, 0.0, 0
    for number in chosen:
        single = search(model, queries[number], traversal, limits)
        matches = list(single)
        forwards += single.progress.forwards
        together = answers[number].matches
        same += [match.token_ids for match in matches] == [match.token_ids for match in together]
        largest = max(
            largest,
            *(abs(one.decoder_log_prob - other.decoder_log_prob) for one, other in zip(matches, together, strict=True)),
        )
    seconds_alone = time.perf_counter() - begun
    return {
        "queries": len(queries),
        "seconds": round(seconds, 1),
        "share_of_wall_time_inside_the_model": round(progress.seconds_model / seconds, 3),
        "seconds_compiling": round(progress.seconds_compile, 1),
        "forwards": progress.forwards,
        "tokens_computed": progress.tokens_computed,
        "expansions": progress.expansions,
        "milliseconds_a_query": round(1e3 * seconds / len(queries), 1),
        "asked_one_by_one": len(chosen),
        "milliseconds_a_query_one_by_one": round(1e3 * seconds_alone / len(chosen), 1),
        "ratio": round(seconds / len(queries) / (seconds_alone / len(chosen)), 3),
        "forwards_a_query": [round(progress.forwards / len(queries), 2), round(forwards / len(chosen), 2)],
        "same_answers": f"{same} of {len(chosen)}",
        "largest_difference_in_nats": largest,
    }


def main() -> None:
    """Measure and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--alone", type=int, default=25)
    parser.add_argument("--words", type=int, default=60)
    options = parser.parse_args()
    model = load_model(options.model, dtype=options.dtype)
    queries = [
        Query(PATTERN, prefix=re.escape(text), decoding=Decoding(top_k=1000), max_tokens=1024)
        for text in passages(options.queries, options.words)
    ]
    list(search(model, queries[0], limits=Limits(matches=1)))
    machine.report("many_queries", {"dtype": options.dtype, **measure(model, queries, options.alone)})


if __name__ == "__main__":
    main()
