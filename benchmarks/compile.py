"""From a regular expression to a token automaton, in milliseconds, compared with outlines-core in the same run.

    python -m benchmarks.compile [--repeats 9]

For the vocabularies of SmolLM2 and GPT-2 and each expression of `benchmarks.questions`: medians of the regular
expression to a byte automaton; all encodings; canonical encodings; and outlines-core's `Index`, which does the first
two steps at once, so that it is also compared with their sum. `ratio` is ours by theirs: below 1 is faster. Tables that
are made once for each tokenizer are timed separately.

The bias template within one and two edits is timed as one expression, and with the edits shared by a prefix and a
pattern: the language, and for one edit its token automata too, where `total` is the language and the encodings.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import outlines_core

from benchmarks import machine, questions
from benchmarks.gpt2 import gpt2_tokenizer
from relens.language.compile import compile_language, compile_regex, warm_up
from relens.language.counting import count_strings
from relens.models.loading import load_tokenizer
from relens.query import Edits, Limits, Query
from relens.tokens.byte_level import byte_level_tables
from relens.tokens.canonical import canonical_encodings
from relens.tokens.encodings import all_encodings
from relens.tokens.tokenizer import Tokenizer

PATTERNS = {
    "date": questions.DATE,
    "url": questions.URL,
    "mail or phone": questions.MAIL_OR_PHONE,
    "cat or dog": questions.ANIMALS,
    "bias": questions.BIAS,
}

_PEOPLE, _SUBJECTS = questions.BIAS.split(" in ")
EDITED = {
    "bias, one edit": Query(questions.BIAS, edits=Edits(1)),
    "bias, one edit in prefix or pattern": Query(f" {_SUBJECTS}", prefix=f"{_PEOPLE} in", edits=Edits(1)),
    "bias, two edits": Query(questions.BIAS, edits=Edits(2)),
    "bias, two edits in prefix or pattern": Query(f" {_SUBJECTS}", prefix=f"{_PEOPLE} in", edits=Edits(2)),
}


def median(work: Callable[[], object], repeats: int) -> float:
    """Median milliseconds of `work`."""
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - begun))
    return statistics.median(times)


def once(work: Callable[[], object]) -> float:
    return round(median(work, 1), 1)


def their_vocabulary(tokenizer: Tokenizer) -> outlines_core.Vocabulary:
    spelled: dict[bytes, list[int]] = {}
    for token, item in enumerate(tokenizer.vocabulary.token_bytes):
        if item:
            spelled.setdefault(item, []).append(token)
    return outlines_core.Vocabulary(tokenizer.size, spelled)


def measure_edits(repeats: int) -> dict[str, Any]:
    """The languages within edits, without a tokenizer."""
    result = {}
    for name, query in EDITED.items():
        language = compile_language(query)
        result[name] = {
            "byte_states": language.whole.states,
            "strings": count_strings(language.whole),
            "language_ms": round(median(lambda query=query: compile_language(query), repeats), 2),
        }
    return result


def measure_one_edit(tokenizer: Tokenizer, repeats: int) -> dict[str, Any]:
    """The token automata of the bias template within one edit."""
    query, limits = EDITED["bias, one edit"], Limits()
    automaton = compile_language(query).pattern
    language = median(lambda: compile_language(query), repeats)
    every = median(lambda: all_encodings(automaton, tokenizer.vocabulary, 10**8), repeats)
    canonical = median(lambda: canonical_encodings(automaton, tokenizer, limits), repeats)
    return {
        "token_arcs": all_encodings(automaton, tokenizer.vocabulary, 10**8).arc_count,
        "language_ms": round(language, 2),
        "all_encodings_ms": round(every, 2),
        "canonical_ms": round(canonical, 2),
        "all_encodings_total_ms": round(language + every, 2),
        "canonical_total_ms": round(language + canonical, 2),
    }


def measure(tokenizer: Tokenizer, repeats: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "vocabulary": tokenizer.size,
        "tables_once_ms": {
            "bytes": once(lambda: tokenizer.vocabulary),
            "trie": once(lambda: tokenizer.vocabulary.trie),
            "canonical": once(lambda: byte_level_tables(tokenizer)),
        },
        "patterns": {},
    }
    theirs = their_vocabulary(tokenizer)
    limits = Limits()
    for name, pattern in PATTERNS.items():
        automaton = compile_regex(pattern)
        regex = median(lambda pattern=pattern: compile_regex(pattern), repeats)
        every = median(lambda automaton=automaton: all_encodings(automaton, tokenizer.vocabulary, 10**8), repeats)
        canonical = median(lambda automaton=automaton: canonical_encodings(automaton, tokenizer, limits), repeats)
        index = median(lambda pattern=pattern: outlines_core.Index(pattern, theirs), repeats)
        result["patterns"][name] = {
            "byte_states": automaton.states,
            "token_arcs": all_encodings(automaton, tokenizer.vocabulary, 10**8).arc_count,
            "regex_ms": round(regex, 2),
            "all_encodings_ms": round(every, 2),
            "canonical_ms": round(canonical, 2),
            "outlines_index_ms": round(index, 2),
            "ratio": round(every / index, 3),
            "ratio_with_regex": round((regex + every) / index, 3),
        }
    result["bias, one edit"] = measure_one_edit(tokenizer, repeats)
    return result


def main() -> None:
    """Measure both vocabularies and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    warm_up()
    gpt2 = Tokenizer.from_json(gpt2_tokenizer().to_str(), name="gpt2")
    result = {tokenizer.name: measure(tokenizer, repeats) for tokenizer in (load_tokenizer("smollm2-135m"), gpt2)}
    result["edits"] = measure_edits(repeats)
    machine.report("compile", result)


if __name__ == "__main__":
    main()
