"""The options of the command line, read off the declared settings; `options` makes records of them.

An option of another traversal, such as the seed of a distribution, is a mistake and is refused. So these options are
None until they are given, and their defaults stand only in the help.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any, get_args

from relens.query import Decoding, Distribution, Edits, Exclude, Limits, Query, Sampling, ShortestPath, Traversal
from relens.record import Record, plain
from relens.setting import declared, plain_help

#: Matches that a best-first search prints without --matches.
BEST_MATCHES = 10

#: The value of --by for whole strings; any other is the name of a group.
STRING = "string"

TRAVERSALS: dict[str, type[ShortestPath] | type[Sampling] | type[Distribution]] = {
    kind.kind.replace("_", "-"): kind for kind in get_args(Traversal)
}


def argument_parser() -> argparse.ArgumentParser:
    """The options, named as the fields of query, traversal and limits."""
    parser = argparse.ArgumentParser(
        prog="relens query",
        description="Ask a language model which strings of a regular expression it would write: the likeliest, best"
        " first; a sample of them; or how probable each is.",
        epilog="Exit status: 0 when the search ended by itself or at a limit, 1 for a failure,"
        " 2 for a query that has no meaning, 130 when interrupted.",
        # An abbreviation that works today could mean another option tomorrow.
        allow_abbrev=False,
    )
    parser.add_argument("pattern", help="regular expression of what the model may write, in Python's syntax")
    parser.add_argument("--prefix", default="", help="regular expression of the text before it, which is given")
    parser.add_argument("--model", default="smollm2-135m", help="name of a model, or its folder (%(default)s)")
    _add_encoding(parser.add_argument_group("how strings are encoded"))
    _add_edits(parser.add_argument_group("edits"))
    _add_exclusion(parser.add_argument_group("excluded strings"))
    _add_decoding(parser.add_argument_group("decoding"))
    _add_traversal(parser.add_argument_group("traversal"))
    _add_limits(parser.add_argument_group("limits"))
    parser.add_argument("--device", help="cpu, cuda, cuda:1 or mps (the best available)")
    parser.add_argument("--dtype", help="float32 or bfloat16 (by device)")
    parser.add_argument(
        "--json", action="store_true", help="one JSON object a line, then the summary of a sample, then the progress"
    )
    return parser


def _add_encoding(group: argparse._ArgumentGroup) -> None:
    _setting(group, "--encoding", Query, "encoding")
    _setting(group, "--prefix-encoding", Query, "prefix_encoding", default=None)
    _setting(group, "--boundary", Query, "boundary")
    _setting(group, "--begin-of-text", Query, "begin_of_text")
    _setting(group, "--end-of-text", Query, "end_of_text")
    _setting(group, "--max-tokens", Query, "max_tokens")


def _add_edits(group: argparse._ArgumentGroup) -> None:
    _setting(group, "--edits", Edits, "distance")
    _setting(group, "--edit-where", Edits, "where", default=None)
    for name in ("insertions", "deletions", "substitutions"):
        _setting(group, f"--{name}", Edits, name, default=None)
    _setting(group, "--edit-alphabet", Edits, "alphabet", default=None)


def _add_exclusion(group: argparse._ArgumentGroup) -> None:
    _setting(group, "--exclude", Exclude, "regex")
    group.add_argument(
        "--exclude-word",
        action="append",
        default=[],
        metavar="WORD",
        help="this word in upper or lower case, with any blanks and punctuation around it (repeatable)",
    )
    group.add_argument("--exclude-words-file", metavar="FILE", help="the same for each line of a UTF-8 file")
    _setting(group, "--exclude-stop-words", Exclude, "stop_words")


def _add_decoding(group: argparse._ArgumentGroup) -> None:
    for name in ("top_k", "top_p", "temperature"):
        _setting(group, f"--{name.replace('_', '-')}", Decoding, name)
    group.add_argument("--greedy", action="store_true", help="keep the most likely token only, as --top-k 1")


def _add_traversal(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--traversal",
        choices=[*TRAVERSALS],
        default="shortest-path",
        help="shortest-path: the likeliest matches, best first; sampling: random draws of the decoder; distribution:"
        " every match with its exact probability (%(default)s)",
    )
    _setting(group, "--rank", ShortestPath, "rank", default=None)
    _setting(group, "--samples", Sampling, "count", default=None)
    _setting(group, "--seed", Sampling, "seed", default=None)
    _setting(group, "--prefix-by", Sampling, "prefix_by", default=None)
    _setting(group, "--tolerance", Distribution, "tolerance", default=None)
    group.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="GROUP",
        help=f"print the share of each value of a named group, or of each {STRING} (repeatable)",
    )
    group.add_argument(
        "--given",
        action="append",
        default=[],
        metavar="GROUP",
        help="with --by: shares among the matches that have the same value of this group (repeatable)",
    )


def _add_limits(group: argparse._ArgumentGroup) -> None:
    _setting(group, "--matches", Limits, "matches", default=None, shown=f"{BEST_MATCHES}; of a distribution: none")
    _setting(group, "--seconds", Limits, "seconds")
    _setting(group, "--expansions", Limits, "expansions")
    _setting(group, "--prefixes", Limits, "prefixes", default=None)


def _setting(
    group: argparse._ArgumentGroup, option: str, record: type[Record], field: str, *, shown: str = "", **more: Any
) -> None:
    """An option read off a declared setting. default: in place of the setting's; shown: the default in the help."""
    one = declared(record, field)
    default = plain(one.default)
    more = {"default": default, **more}
    shown = shown or ("yes" if default is True else "no" if default is False else _text(default))
    more["help"] = f"{plain_help(one.setting)} ({shown})".replace("%", "%%")
    if one.setting.choices and one.type is not bool:
        more["choices"] = [plain(choice) for choice in one.setting.choices]
    elif one.type is bool:
        is_switch = more["default"] is False
        more["action"] = "store_true" if is_switch else argparse.BooleanOptionalAction
    elif one.type in (int, float):
        is_limit = record is Limits and one.is_optional
        more |= {"type": _limit(one.type) if is_limit else one.type, "metavar": "N"}
    else:
        more["metavar"] = "REGEX" if one.setting.is_regex else "TEXT"
    group.add_argument(option, **more)


def _text(default: Any) -> str:
    if default in (None, ""):
        return "none"
    return f"{default:g}" if isinstance(default, float) else str(default)


def _limit(kind: type[int] | type[float]) -> Callable[[str], float]:
    """The type of a number that may also be "none", here infinity: None stands for an option that is not given."""

    def parse(text: str) -> float:
        return math.inf if text == "none" else kind(text)

    parse.__name__ = kind.__name__  # argparse puts the type's name into its error
    return parse
