"""A query from a terminal: matches stream to standard output, everything else to standard error.

relens query " (January|July) \\d{1,2}, \\d{4}" --prefix "George Washington was born on" --top-k 40 --matches 10
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from relens.command_line.lines import heading, match_line, share_lines, summary
from relens.command_line.options import check_groups, limits_of, query_of, traversal_of
from relens.command_line.parser import argument_parser
from relens.errors import QueryError, RegexError, RelensError
from relens.language.isolation import isolated_compiler
from relens.query import ShortestPath, Traversal

if TYPE_CHECKING:
    from relens.command_line.shares import Shares
    from relens.search_run import SearchRun


def query_main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    options = argument_parser().parse_args(arguments)
    try:
        query, traversal, limits = query_of(options), traversal_of(options), limits_of(options)
        # All checks that need no model come before the seconds of loading it; in a process of its own, so that a
        # hostile pattern is stopped at its limits.
        compiler = isolated_compiler(pool_size=1)
        try:
            language = compiler(query, limits)
        finally:
            compiler.close()
        check_groups(options, query, limits)
        from relens.models.loading import load_model
        from relens.search_run import search

        run = search(
            load_model(options.model, device=options.device, dtype=options.dtype),
            query,
            traversal,
            limits,
            compiler=lambda query, limits: language,
        )
    except RegexError as error:
        print(f"{error.sentence}\n{error.caret()}", file=sys.stderr)
        return 2
    except RelensError as error:
        print(error.sentence, file=sys.stderr)
        return 2 if isinstance(error, QueryError) else 1
    try:
        rows: list[dict[str, Any]] = []
        status = stream(run, traversal, options.json, rows)
        shares = None
        if not isinstance(traversal, ShortestPath):
            from relens.command_line.shares import shares_of

            shares = shares_of(rows, traversal, run.progress, options.by, options.given)
        conclude(run, traversal, shares, options.json)
    except BrokenPipeError:
        # The reader is gone, as in `| head`; writing anything at exit would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except RelensError as error:
        print(error.sentence, file=sys.stderr)
        return 1
    return status


def stream(run: SearchRun, traversal: Traversal, as_json: bool, rows: list[dict[str, Any]]) -> int:
    """Print the matches as they come and keep them in `rows`; the exit status, 130 when interrupted."""
    if not as_json:
        print(heading(traversal), file=sys.stderr)
    try:
        for match in run:
            rows.append(match.to_json())
            print(json.dumps(rows[-1]) if as_json else match_line(match, traversal), flush=True)
    except KeyboardInterrupt:
        run.stop()
        return 130
    return 0


def conclude(run: SearchRun, traversal: Traversal, shares: Shares | None, as_json: bool) -> None:
    """Print the shares of the matches, and the account of the work."""
    if as_json:
        if shares is not None:
            print(json.dumps({"summary": shares.to_json()}))
        print(json.dumps({"progress": run.progress.to_json()}))
        return
    for line in share_lines(shares) if shares is not None else ():
        print(line)
    print(summary(run.progress, traversal, shares), file=sys.stderr)
