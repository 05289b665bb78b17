"""The store of runs from a terminal.

    relens runs list [words ...]           the newest runs, or those with all these words
    relens runs export 3f2a91 run.relens   a run as one file; the first letters of its id are enough
    relens runs import run.relens          a file of another installation, into this store

The store is the dashboard's own (RELENS_STORE), or the one of --store.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from relens.command_line.lines import printable
from relens.errors import QueryError, RelensError, StoreError
from relens.runs.records import RunRecord
from relens.runs.run_file import MOST_BYTES, read_run, write_run
from relens.runs.store import Store

ACTIONS = ("list", "export", "import")
_LISTED = 20


def runs_parser() -> argparse.ArgumentParser:
    """The options of `relens runs`."""
    parser = argparse.ArgumentParser(
        prog="relens runs", description="List, export and import runs.", allow_abbrev=False
    )
    store = argparse.ArgumentParser(add_help=False)
    store.add_argument("--store", help="database URL of the runs (RELENS_STORE)")
    actions = parser.add_subparsers(dest="action", required=True)
    listing = actions.add_parser("list", parents=[store], help="the newest runs, one a line")
    listing.add_argument("words", nargs="*", help="only runs with all these words in their name, note or query")
    listing.add_argument("--limit", type=int, default=_LISTED, help="how many at most (%(default)s)")
    exporting = actions.add_parser("export", parents=[store], help="write a run into a file")
    exporting.add_argument("run", help="the id of the run, or its first letters")
    exporting.add_argument("file", type=Path)
    importing = actions.add_parser("import", parents=[store], help="take a run from a file")
    importing.add_argument("file", type=Path)
    return parser


def runs_main(arguments: Sequence[str]) -> int:
    """Run the command; 0 when done, 1 for a failure, 2 for arguments without meaning."""
    options = runs_parser().parse_args(arguments)
    try:
        store = Store(options.store)
        try:
            if options.action == "list":
                for run in store.find(" ".join(options.words), limit=max(1, options.limit)):
                    print(run_line(run))
            elif options.action == "export":
                run = _named(store, options.run)
                _write(options.file, write_run(run, store.rows(run.id)))
            else:
                print(store.import_run(read_run(_read(options.file))))
        finally:
            store.close()
    except RelensError as error:
        print(error.sentence, file=sys.stderr)
        return 2 if isinstance(error, QueryError) else 1
    return 0


def run_line(run: RunRecord) -> str:
    """A run in one line: id, date, status, kind, rows, model, and its name or query."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created))
    query = run.specification.get("query", {})
    query_text = f"{query.get('prefix', '')}|{query.get('pattern', '')}" if query else run.variety
    label = printable(run.name or query_text)
    return f"{run.id}  {when}  {run.status:11}  {run.variety or run.kind:13}  {run.row_count:>7}  {run.model}  {label}"


def _named(store: Store, beginning: str) -> RunRecord:
    run = store.get(beginning)
    if run is not None:
        return run
    runs = store.beginning_with(beginning)
    if len(runs) != 1:
        raise QueryError(f"There {'is no run' if not runs else 'are several runs'} whose id begins with {beginning!r}.")
    return runs[0]


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise StoreError(f"The file {path} cannot be read.") from error
    if len(data) > MOST_BYTES:
        raise QueryError(f"The file {path} is larger than the file of a run may be.")
    return data


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise StoreError(f"The file {path} cannot be written.") from error
