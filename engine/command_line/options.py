"""The options of the command line, and the records that they describe.

    "cat" --prefix "The " --edits 1 --traversal sampling --samples 500
        -> Query("cat", prefix="The ", edits=Edits(1)), Sampling(count=500), Limits()

An option that describes something which was not asked for, such as the seed of a distribution, would be a mistake that
goes unnoticed. So these options are None until they are given, and are refused where they mean nothing.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

from engine.errors import QueryError
from engine.language.groups import GroupReader
from engine.query import (
    Boundary,
    Decoding,
    Distribution,
    Edits,
    Encoding,
    Exclude,
    Limits,
    Query,
    Sampling,
    ShortestPath,
    Traversal,
)

#: How many matches a best-first search prints, unless it is told.
BEST_MATCHES = 10

#: The value of --by for whole strings; any other is the name of a group.
STRING = "string"

_TRAVERSALS: dict[str, type[ShortestPath] | type[Sampling] | type[Distribution]] = {
    kind.kind.replace("_", "-"): kind for kind in get_args(Traversal)
}

#: The field of a traversal that an option sets, where they are called differently.
_FIELDS = {"samples": "count"}
_OPTIONS_OF_TRAVERSALS = {
    "shortest-path": ("rank",),
    "sampling": ("samples", "seed", "prefix_by"),
    "distribution": ("tolerance",),
}
_OPTIONS_OF_EDITS = ("edit_where", "insertions", "deletions", "substitutions", "edit_alphabet")


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
        choices=[*_TRAVERSALS],
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
        edits=_edits_of(options),
        exclude=_exclude_of(options),
        decoding=Decoding(
            top_k=1 if options.greedy else options.top_k, top_p=options.top_p, temperature=options.temperature
        ),
        begin_of_text=options.begin_of_text,
        end_of_text=options.end_of_text,
        max_tokens=options.max_tokens,
    )


def _edits_of(options: argparse.Namespace) -> Edits:
    given = _given(options, _OPTIONS_OF_EDITS)
    if given and not options.edits:
        raise QueryError(f"{_written(next(iter(given)))} says what edits are like, so it needs --edits 1 or --edits 2.")
    return Edits(options.edits, **{name.removeprefix("edit_"): value for name, value in given.items()})


def _exclude_of(options: argparse.Namespace) -> Exclude:
    words = list(options.exclude_word)
    if options.exclude_words_file is not None:
        try:
            lines = Path(options.exclude_words_file).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise QueryError(
                f"The words to exclude could not be read from {options.exclude_words_file!r}: {reason}."
            ) from None
        words += [line.strip() for line in lines if line.strip()]
    return Exclude(options.exclude, tuple(words), options.exclude_stop_words)


def traversal_of(options: argparse.Namespace) -> Traversal:
    """The traversal that the options describe. Raises `QueryError`, also for options of another traversal."""
    for traversal, names in _OPTIONS_OF_TRAVERSALS.items():
        if traversal != options.traversal:
            for name in _given(options, names):
                raise QueryError(
                    f"{_written(name)} goes with --traversal {traversal}, and this one is {options.traversal}."
                )
    if options.given and not options.by:
        raise QueryError("--given says among which matches --by takes shares, so it needs a --by.")
    if options.by and options.traversal == "shortest-path":
        raise QueryError(
            "--by sums up a sample or a distribution: add --traversal sampling or --traversal distribution."
        )
    if STRING in options.by and (len(options.by) > 1 or options.given):
        raise QueryError(f"--by {STRING} tells whole strings apart already, so it goes without groups.")
    given = _given(options, _OPTIONS_OF_TRAVERSALS[options.traversal])
    return _TRAVERSALS[options.traversal](**{_FIELDS.get(name, name): value for name, value in given.items()})


def limits_of(options: argparse.Namespace) -> Limits:
    """The limits that the options describe. Raises `QueryError`."""
    if options.traversal == "sampling" and options.matches is not None:
        raise QueryError(
            "A sample ends when all is drawn: give the number of draws with --samples, not with --matches."
        )
    if options.traversal != "distribution" and options.prefixes is not None:
        raise QueryError(f"--prefixes goes with --traversal distribution, and this one is {options.traversal}.")
    matches = options.matches
    if matches is None:
        matches = BEST_MATCHES if options.traversal == "shortest-path" else math.inf
    return Limits(
        matches=_unlimited(matches),
        seconds=_unlimited(options.seconds),
        expansions=_unlimited(options.expansions),
        **_given(options, ("prefixes",)),
    )


def check_groups(options: argparse.Namespace, query: Query, limits: Limits) -> None:
    """Raise `QueryError` for a group of --by or --given that the query does not have."""
    wanted = [name for name in (*options.by, *options.given) if name != STRING]
    names = GroupReader(query.prefix, query.pattern, limits).names if wanted else ()
    for name in wanted:
        if name not in names:
            there = f"its named groups are {', '.join(names)}" if names else "it has no named groups, (?P<name>...)"
            raise QueryError(f"The query has no group called {name!r}; {there}.")


def _limit(kind: type[int] | type[float]) -> Callable[[str], float]:
    """The type of a number that may also be "none", which is infinite here: None is an option that was not given."""

    def parse(text: str) -> float:
        return math.inf if text == "none" else kind(text)

    parse.__name__ = kind.__name__  # argparse names the type in its complaint
    return parse


def _unlimited(value: float) -> Any:
    return None if value == math.inf else value


def _given(options: argparse.Namespace, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(options, name) for name in names if getattr(options, name) is not None}


def _written(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _default(record: type[Query] | type[Limits] | type[Sampling] | type[Distribution], name: str) -> Any:
    return record.__dataclass_fields__[name].default
