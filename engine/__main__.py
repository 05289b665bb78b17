"""The same question from a terminal: matches stream to standard output, best first, everything else to standard error.

python -m engine " (January|July) \\d{1,2}, \\d{4}" --prefix "George Washington was born on" --top-k 40 --matches 10
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.errors import QueryError, RegexError, RelensError
from engine.language.isolation import isolated_compiler
from engine.query import Boundary, Decoding, Encoding, Limits, Query, ShortestPath

if TYPE_CHECKING:
    from engine.search_run import SearchRun
    from engine.traversal.results import Match, Progress


def argument_parser() -> argparse.ArgumentParser:
    """The options, each named as the field of the query that it sets."""
    parser = argparse.ArgumentParser(
        prog="python -m engine",
        description="Ask a language model which strings of a regular expression it would write, best first.",
        epilog="Exit status: 0 when the search ended by itself or at a limit, 1 for a failure,"
        " 2 for a query that has no meaning, 130 when interrupted.",
    )
    defaults, limits = Query(""), Limits()
    parser.add_argument("pattern", help="regular expression of what the model may write, in Python's syntax")
    parser.add_argument("--prefix", default="", help="regular expression of what is given before it")
    parser.add_argument("--model", default="smollm2-135m", help="name of a model, or its folder (%(default)s)")
    parser.add_argument("--encoding", choices=[*Encoding], default=defaults.encoding.value)
    parser.add_argument(
        "--prefix-encoding",
        choices=[*Encoding],
        default=None,
        help="(canonical; with --boundary free: that of the pattern)",
    )
    parser.add_argument(
        "--boundary",
        choices=[*Boundary],
        default=defaults.boundary.value,
        help="token: the pattern starts with a new token; free: a token may straddle (%(default)s)",
    )
    parser.add_argument("--top-k", type=int, help="keep the k most likely tokens at each step")
    parser.add_argument("--top-p", type=float, help="keep the fewest tokens that reach this probability")
    parser.add_argument("--temperature", type=float, default=1.0, help="divides the logits (%(default)s)")
    parser.add_argument("--greedy", action="store_true", help="keep the most likely token only, as --top-k 1")
    parser.add_argument(
        "--begin-of-text",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="begin-of-text token before everything (as the model was trained)",
    )
    parser.add_argument("--end-of-text", action="store_true", help="demand the end-of-text token after a match")
    parser.add_argument("--max-tokens", type=int, default=defaults.max_tokens, help="longest match (%(default)s)")
    parser.add_argument(
        "--rank",
        choices=["joint", "conditional"],
        default=ShortestPath().rank,
        help="order by prefix and pattern, or by the pattern given its prefix (%(default)s)",
    )
    parser.add_argument("--matches", type=int, default=10, help="how many matches (%(default)s)")
    parser.add_argument("--seconds", type=float, default=limits.seconds, help="time limit (%(default)s)")
    parser.add_argument("--expansions", type=int, default=limits.expansions, help="limit of nodes (%(default)s)")
    parser.add_argument("--device", help="cpu, cuda, cuda:1 or mps (the best there is)")
    parser.add_argument("--dtype", help="float32 or bfloat16 (by device)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, the last one the progress")
    return parser


def query_of(options: argparse.Namespace) -> Query:
    """The query that the options describe. Raises `QueryError`."""
    if options.greedy and (options.top_k, options.top_p) != (None, None):
        raise QueryError("Greedy decoding keeps one token, so --greedy goes without --top-k and --top-p.")
    boundary, encoding = Boundary(options.boundary), Encoding(options.encoding)
    prefix_encoding = options.prefix_encoding
    if prefix_encoding is None:
        prefix_encoding = encoding if boundary is Boundary.FREE else Encoding.CANONICAL
    return Query(
        pattern=options.pattern,
        prefix=options.prefix,
        encoding=encoding,
        prefix_encoding=Encoding(prefix_encoding),
        boundary=boundary,
        decoding=Decoding(
            top_k=1 if options.greedy else options.top_k, top_p=options.top_p, temperature=options.temperature
        ),
        begin_of_text=options.begin_of_text,
        end_of_text=options.end_of_text,
        max_tokens=options.max_tokens,
    )


def printable(text: str) -> str:
    """`text` on one line, with what a terminal would obey instead of show written as an escape."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def match_line(match: Match) -> str:
    """One match for a person: probability of the pattern given the prefix, its log, and the string."""
    mark = " " if match.is_canonical else "~"
    pattern_text = match.text[len(match.prefix_text) :]
    return (
        f"{math.exp(match.log_prob):>10.3g} {match.log_prob:>9.3f} {match.decoder_log_prob:>9.3f} {mark}"
        f" {printable(match.prefix_text)}|{printable(pattern_text)}"
    )


def summary(progress: Progress) -> str:
    """What the search did, in one sentence."""
    ends = {
        "exhausted": "the language is exhausted",
        "matches": "the number of matches asked for is reached",
        "expansions": "the limit of expansions is reached",
        "seconds": "the time limit is reached",
        "stopped": "stopped",
    }
    certain = progress.found_mass + progress.remaining_mass
    event = "The prefix and then a match comes" if progress.mass_is_joint else "The output begins with a match"
    return (
        f"{progress.matches} matches in {progress.seconds_total:.1f} s ({progress.seconds_model:.1f} s in the model,"
        f" {progress.forwards} forwards, {progress.tokens_computed} tokens); {ends.get(progress.ended, 'unfinished')}."
        f" {event} with probability {progress.found_mass:.3g} to {certain:.3g}."
    )


def stream(run: SearchRun, as_json: bool) -> None:
    """Print the matches as they come."""
    if not as_json:
        print(
            f"{'P(pattern)':>10} {'log P':>9} {'decoder':>9}   prefix|pattern   (~ not the canonical encoding)",
            file=sys.stderr,
        )
    for match in run:
        print(json.dumps(match.to_json()) if as_json else match_line(match), flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    options = argument_parser().parse_args(arguments)
    try:
        query = query_of(options)
        limits = Limits(matches=options.matches, seconds=options.seconds, expansions=options.expansions)
        # Everything that can be refused without the model is, before seconds are spent on loading it; and in a process
        # of its own, so that a hostile pattern is stopped at its limits.
        compiler = isolated_compiler(pool_size=1)
        try:
            language = compiler(query, limits)
        finally:
            compiler.close()
        from engine.models.loading import load_model
        from engine.search_run import search

        run = search(
            load_model(options.model, device=options.device, dtype=options.dtype),
            query,
            ShortestPath(options.rank),
            limits,
            compiler=lambda query, limits: language,
        )
    except RegexError as error:
        print(f"{error.sentence}\n{error.caret()}", file=sys.stderr)
        return 2
    except RelensError as error:
        print(error.sentence, file=sys.stderr)
        return 2 if isinstance(error, QueryError) else 1
    status = 0
    try:
        stream(run, options.json)
    except KeyboardInterrupt:
        run.stop()
        status = 130
    except BrokenPipeError:
        # The reader has seen enough, as in `| head`; nothing is to be written on the way out either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except RelensError as error:
        print(error.sentence, file=sys.stderr)
        return 1
    print(
        json.dumps({"progress": run.progress.to_json()}) if options.json else summary(run.progress),
        file=sys.stdout if options.json else sys.stderr,
    )
    return status


if __name__ == "__main__":
    sys.exit(main())
