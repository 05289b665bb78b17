"""Query, traversal and limits from the options of the command line.

    "cat" --prefix "The " --edits 1 --traversal sampling --samples 500
        -> Query("cat", prefix="The ", edits=Edits(1)), Sampling(count=500), Limits()

Options without meaning together, such as a seed without a sample, are refused with one sentence.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from relens.command_line.parser import BEST_MATCHES, STRING, TRAVERSALS
from relens.errors import QueryError
from relens.language.groups import GroupReader
from relens.query import Boundary, Decoding, Edits, Encoding, Exclude, Limits, Query, Traversal

#: Options that have another name than their field of the traversal.
_FIELDS = {"samples": "count"}
_OPTIONS_OF_TRAVERSALS = {
    "shortest-path": ("rank",),
    "sampling": ("samples", "seed", "prefix_by"),
    "distribution": ("tolerance",),
}
_OPTIONS_OF_EDITS = ("edit_where", "insertions", "deletions", "substitutions", "edit_alphabet")


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
        raise QueryError(f"{_written(next(iter(given)))} describes the edits, so it needs --edits 1 or --edits 2.")
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
                    f"{_written(name)} goes with --traversal {traversal}; this traversal is {options.traversal}."
                )
    if options.given and not options.by:
        raise QueryError("--given makes the shares of --by conditional, so it needs a --by.")
    if options.by and options.traversal == "shortest-path":
        raise QueryError(
            "--by sums up a sample or a distribution: add --traversal sampling or --traversal distribution."
        )
    if STRING in options.by and (len(options.by) > 1 or options.given):
        raise QueryError(f"--by {STRING} counts whole strings, so it goes without groups.")
    given = _given(options, _OPTIONS_OF_TRAVERSALS[options.traversal])
    return TRAVERSALS[options.traversal](**{_FIELDS.get(name, name): value for name, value in given.items()})


def limits_of(options: argparse.Namespace) -> Limits:
    """The limits that the options describe. Raises `QueryError`."""
    if options.traversal == "sampling" and options.matches is not None:
        raise QueryError(
            "A sample ends after its last draw: give the number of draws with --samples, not with --matches."
        )
    if options.traversal != "distribution" and options.prefixes is not None:
        raise QueryError(f"--prefixes goes with --traversal distribution; this traversal is {options.traversal}.")
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
    groups = [name for name in (*options.by, *options.given) if name != STRING]
    names = GroupReader(query.prefix, query.pattern, limits).names if groups else ()
    for name in groups:
        if name not in names:
            known = f"its named groups are {', '.join(names)}" if names else "it has no named groups, (?P<name>...)"
            raise QueryError(f"The query has no group called {name!r}; {known}.")


def _unlimited(value: float) -> Any:
    return None if value == math.inf else value


def _given(options: argparse.Namespace, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(options, name) for name in names if getattr(options, name) is not None}


def _written(name: str) -> str:
    return f"--{name.replace('_', '-')}"
