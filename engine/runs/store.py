"""The store of runs. (Signatures; the bodies follow.)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.runs.records import QueueState, RunRecord, Status, WorkerRecord
from engine.runs.specification import Specification


class Store:
    """Runs, their rows and the workers, in one database.

    `url` is an SQLAlchemy URL, by default `engine.settings.store_url()`. An object may be shared by threads. Every
    method raises `StoreError` with one sentence where the database cannot be read or written.
    """

    def __init__(self, url: str | None = None) -> None:
        raise NotImplementedError

    def submit(self, specification: Specification) -> str:
        """Queue a run and return its id. Raises `LimitError` (RELENS_QUEUE) when too many runs wait already."""
        raise NotImplementedError

    def get(self, run_id: str) -> RunRecord | None:
        """The run as it stands, or None where there is none of that id."""
        raise NotImplementedError

    def rows(self, run_id: str, after: int = 0, limit: int | None = None) -> list[dict[str, Any]]:
        """The rows numbered above `after`, in order; each is what the worker wrote, with its "number" (from 1)."""
        raise NotImplementedError

    def recent(self, limit: int = 50, kinds: Sequence[str] = ("search",)) -> list[RunRecord]:
        """The newest runs of these kinds, newest first."""
        raise NotImplementedError

    def queue_position(self, run_id: str) -> int | None:
        """Place of a waiting run in the queue, 1 for the next to start; None where it does not wait."""
        raise NotImplementedError

    def queue(self) -> QueueState:
        """How many runs wait and run."""
        raise NotImplementedError

    def request_stop(self, run_id: str) -> None:
        """Ask for the end of a run: a waiting one is stopped here and now, a running one by its worker."""
        raise NotImplementedError

    def repeat(self, run_id: str) -> str:
        """Submit the specification of a run again; returns the id of the new run. `QueryError` if there is no run."""
        raise NotImplementedError

    def delete(self, run_id: str) -> None:
        """Forget a run and its rows; a running one is abandoned by its worker."""
        raise NotImplementedError

    def workers(self) -> list[WorkerRecord]:
        """The workers known to the store, those alive first."""
        raise NotImplementedError

    def claim(self, worker_id: str, kinds: Sequence[str] | None = None, model: str | None = None) -> RunRecord | None:
        """Take the oldest waiting run, and mark it running; None where nothing waits."""
        raise NotImplementedError

    def append(self, run_id: str, rows: Sequence[Mapping[str, Any]], progress: Mapping[str, Any]) -> None:
        """Add rows and set the progress in one transaction."""
        raise NotImplementedError

    def finish(
        self, run_id: str, status: Status, error: str | None = None, progress: Mapping[str, Any] | None = None
    ) -> None:
        """End a running run."""
        raise NotImplementedError

    def stop_requested(self, run_id: str) -> bool:
        """Whether the worker should leave the run: a stop was asked for, or it is no longer running."""
        raise NotImplementedError
