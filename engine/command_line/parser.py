"""The options of the command line as a terminal is told of them; what they mean is in `options`.

An option that describes something which was not asked for, such as the seed of a distribution, would be a mistake that
goes unnoticed. So such options are None until they are given, and their defaults are only written in the help.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any, get_args

from engine.query import Boundary, Distribution, Encoding, Limits, Query, Sampling, ShortestPath, Traversal

#: How many matches a best-first search prints, unless it is told.
BEST_MATCHES = 10

#: The value of --by for whole strings; any other is the name of a group.
STRING = "string"

TRAVERSALS: dict[str, type[ShortestPath] | type[Sampling] | type[Distribution]] = {
    kind.kind.replace("_", "-"): kind for kind in get_args(Traversal)
}


def argument_parser() -> argparse.ArgumentParser:
    """The options, each named as the field of the query, the traversal or the limits that it sets."""
    parser = argparse.ArgumentParser(
        prog="python -m engine",
        description="Ask a language model which strings of a regular expression it would write: the likeliest, best"
        " first; a sample of them; or how probable each is.",
        epilog="Exit status: 0 when the search ended by itself or at a limit, 1 for a failure,"
        " 2 for a query that has no meaning, 130 when interrupted.",
        # An abbreviation that is understood today would mean another option tomorrow.
        allow_abbrev=False,
    )
    parser.add_argument("pattern", help="regular expression of what the model may write, in Python's syntax")
    parser.add_argument("--prefix", default="", help="regular expression of what is given before it")
    parser.add_argument("--model", default="smollm2-135m", help="name of a model, or its folder (%(default)s)")
    _add_encoding(parser.add_argument_group("how strings are encoded"))
    _add_edits(parser.add_argument_group("edits"))
    _add_exclusion(parser.add_argument_group("strings that are taken out of the pattern"))
    _add_decoding(parser.add_argument_group("decoding"))
    _add_traversal(parser.add_argument_group("what is looked for"))
    _add_limits(parser.add_argument_group("limits"))
    parser.add_argument("--device", help="cpu, cuda, cuda:1 or mps (the best there is)")
    parser.add_argument("--dtype", help="float32 or bfloat16 (by device)")
    parser.add_argument(
        "--json", action="store_true", help="one JSON object a line, then the summary of a sample, then the progress"
    )
    return parser


def _add_encoding(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--encoding", choices=[*Encoding], default=Encoding.ALL.value)
    group.add_argument(
        "--prefix-encoding",
        choices=[*Encoding],
        default=None,
        help="(canonical; with --boundary free: that of the pattern)",
    )
    group.add_argument(
        "--boundary",
        choices=[*Boundary],
        default=Boundary.TOKEN.value,
        help="token: the pattern starts with a new token; free: a token may straddle (%(default)s)",
    )
    group.add_argument(
        "--begin-of-text",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="begin-of-text token before everything (as the model was trained)",
    )
    group.add_argument("--end-of-text", action="store_true", help="demand the end-of-text token after a match")
    group.add_argument(
        "--max-tokens", type=int, default=_default(Query, "max_tokens"), help="longest match (%(default)s)"
    )


def _add_edits(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--edits", type=int, default=0, metavar="N", help="all strings within N edits too: 0, 1 or 2 (%(default)s)"
    )
    group.add_argument("--edit-where", choices=["prefix", "pattern", "both"], help="which part is edited (both)")
    for name in ("insertions", "deletions", "substitutions"):
        group.add_argument(
            f"--{name}", action=argparse.BooleanOptionalAction, default=None, help=f"whether edits may be {name} (yes)"
        )
    group.add_argument(
        "--edit-alphabet", metavar="REGEX", help="what edits write: an expression for one character ([ -~])"
    )


def _add_exclusion(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--exclude", default="", metavar="REGEX", help="strings that match this as a whole; .*word.* is any with it"
    )
    group.add_argument(
        "--exclude-word",
        action="append",
        default=[],
        metavar="WORD",
        help="strings that are this word and blanks and punctuation around it, in upper or lower case (repeatable)",
    )
    group.add_argument("--exclude-words-file", metavar="FILE", help="the same for each line of a UTF-8 file")
    group.add_argument(
        "--exclude-stop-words", action="store_true", help="the same for English function words, such as the and of"
    )


def _add_decoding(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--top-k", type=int, help="keep the k most likely tokens at each step")
    group.add_argument("--top-p", type=float, help="keep the fewest tokens that reach this probability")
    group.add_argument("--temperature", type=float, default=1.0, help="divides the logits (%(default)s)")
    group.add_argument("--greedy", action="store_true", help="keep the most likely token only, as --top-k 1")


def _add_traversal(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--traversal",
        choices=[*TRAVERSALS],
        default="shortest-path",
        help="shortest-path: the likeliest matches, best first; sampling: random draws of the decoder; distribution:"
        " every match with its exact probability (%(default)s)",
    )
    group.add_argument(
        "--rank",
        choices=["joint", "conditional"],
        help="shortest-path: order by prefix and pattern, or by the pattern given its prefix (joint)",
    )
    group.add_argument(
        "--samples", type=int, metavar="N", help=f"sampling: how many draws ({_default(Sampling, 'count')})"
    )
    group.add_argument(
        "--seed", type=int, help=f"sampling: the same seed draws the same ({_default(Sampling, 'seed')})"
    )
    group.add_argument(
        "--prefix-by",
        choices=["strings", "tokens", "edges"],
        help="sampling: draw prefixes with each string, each sequence of tokens or each arc equally likely (strings)",
    )
    group.add_argument(
        "--tolerance",
        type=float,
        help="distribution: end when what is open is at most this share of what is found"
        f" ({_default(Distribution, 'tolerance')})",
    )
    group.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="GROUP",
        help=f"print the shares of the values of a named group, or of each {STRING} (repeatable)",
    )
    group.add_argument(
        "--given",
        action="append",
        default=[],
        metavar="GROUP",
        help="with --by: shares among the matches that have the same value of this group (repeatable)",
    )


def _add_limits(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--matches",
        type=_limit(int),
        metavar="N",
        help=f"how many matches, or none for no limit ({BEST_MATCHES}; of a distribution: none)",
    )
    for name, kind, meaning in (("seconds", float, "time"), ("expansions", int, "nodes")):
        default = _default(Limits, name)
        group.add_argument(
            f"--{name}",
            type=_limit(kind),
            default=default,
            metavar="N",
            help=f"limit of {meaning}, or none ({default:g})",
        )
    group.add_argument(
        "--prefixes",
        type=int,
        metavar="N",
        help=f"how many strings of the prefix a distribution may have ({_default(Limits, 'prefixes')})",
    )


def _limit(kind: type[int] | type[float]) -> Callable[[str], float]:
    """The type of a number that may also be "none", which is infinite here: None is an option that was not given."""

    def parse(text: str) -> float:
        return math.inf if text == "none" else kind(text)

    parse.__name__ = kind.__name__  # argparse names the type in its complaint
    return parse


def _default(record: type[Query] | type[Limits] | type[Sampling] | type[Distribution], name: str) -> Any:
    return record.__dataclass_fields__[name].default
