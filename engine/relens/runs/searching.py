"""Carrying out one search, or one study: its matches and its progress into the store, batch by batch.

    poll 0.1 s -> 3 matches    written together with the progress after them, in one transaction
    poll 0.2 s -> none         progress at least every 0.5 s, so that a page shows a search at work
    poll 0.2 s -> 12 matches   ...

The matches of a best-first search and of a distribution come one by one. The rows of a sample, with their numbers of
draws, come when they are final, possibly all at once.

Between two polls there is room for an interlude: an inspection that somebody waits for. A store that refuses a batch
(another program has locked it, the disk is full) is tried again for some seconds, with the same batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from relens.errors import LimitError
from relens.record import Record
from relens.runs.patience import patiently
from relens.runs.records import LONGEST_RUN
from relens.runs.services import Account, RunningSearch
from relens.runs.store import Store

#: The first matches are written sooner: somebody looks at an empty table.
FIRST_POLL_SECONDS, POLL_SECONDS = 0.05, 0.2
PROGRESS_SECONDS = 0.5

Interlude = Callable[[], None]


def carry_out_search(
    store: Store,
    run_id: str,
    search: RunningSearch,
    should_leave: Callable[[], bool],
    figures: Callable[[], Mapping[str, Any]],
    interlude: Interlude,
    rows_before: int = 0,
) -> None:
    """Run `search` to its end, or until `should_leave`; all results are in the store when this returns.

    figures: the latest use of the device, written with each batch. rows_before: the rows of a resumed run. Raises the
    errors of the search, after earlier results are written; `LimitError` for a run that is longer than `LONGEST_RUN`;
    and `StoreError` when the store refuses a batch for longer than `patiently` waits.
    """
    rows = rows_before
    poll_seconds = FIRST_POLL_SECONDS
    last_write = 0.0
    while not search.finished and not should_leave():
        matches = search.poll(poll_seconds)
        rows += len(matches)
        if matches:
            poll_seconds = POLL_SECONDS
        if matches or time.monotonic() - last_write >= PROGRESS_SECONDS:
            _write(store, run_id, matches, search.progress, figures())
            last_write = time.monotonic()
        if rows >= LONGEST_RUN:
            raise LimitError(
                f"A run ends at {LONGEST_RUN:,} rows; these are kept. From Python there is no such limit.",
                limit="rows",
            )
        interlude()
    _write(store, run_id, (), search.progress, figures())


def _write(
    store: Store,
    run_id: str,
    results: Sequence[Record] | Sequence[Mapping[str, Any]],
    progress: Account,
    figures: Mapping[str, Any],
) -> None:
    rows = [item.to_json() if isinstance(item, Record) else item for item in results]
    patiently(lambda: store.append(run_id, rows, progress.to_json(), figures))
