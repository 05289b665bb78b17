"""The store of runs: the only thing that passes between a page and a worker.

    page                                   worker
    run = store.submit(specification)
                                           record = store.claim(worker)           queued -> running
    store.get(run).stage                   store.report(run, stage="loading ...")
                                           store.append(run, matches, progress)
    store.rows(run, after=17)              store.append(run, matches, progress)
    store.request_stop(run)                store.stop_requested(run)
                                           store.finish(run, "stopped")           running -> stopped

A page that is closed, and a worker that is killed, lose nothing that was committed: rows and progress of a batch are
written in one transaction. A run whose worker is dead is marked interrupted by the next worker or supervisor that
looks.

Later a person finds a run again, names it, keeps it or deletes it. Each side has a module of its own: `submitted_runs`
and `row_pages` for pages, `worker_store` for workers, `history` for later visits.

Only a running run can be written to. For a run that was deleted or marked interrupted, `stop_requested` is true, and
further rows of its worker are dropped.
"""

from __future__ import annotations

from relens import settings
from relens.runs.database import Database, schema_table
from relens.runs.history import History
from relens.runs.imports import Imports
from relens.runs.row_pages import RowPages
from relens.runs.submitted_runs import SubmittedRuns
from relens.runs.worker_store import WorkerStore


class Store(SubmittedRuns, RowPages, WorkerStore, History, Imports):
    """Runs, their rows and the workers, in one database.

    `url` is an SQLAlchemy URL, by default `relens.settings.store_url()`. An object may be shared by threads. Every
    method raises `StoreError` with one sentence where the database cannot be read or written.
    """

    def __init__(self, url: str | None = None) -> None:
        self.url = url or settings.store_url()
        super().__init__(Database(self.url))

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        self._database.dispose()

    def check_writable(self) -> None:
        """Raise the `StoreError` that a write would raise now."""
        with self._database.writing() as connection:
            connection.execute(schema_table.update().values(version=schema_table.c.version))
