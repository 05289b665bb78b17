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
written in one transaction. A run whose worker is dead is marked interrupted by whoever notices first.

Only a running run can be written to. One that was deleted, or given up for dead, tells its worker so through
`stop_requested`, and what the worker still wanted to write is dropped.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sql
from sqlalchemy.engine import Connection, RowMapping

from engine import settings
from engine.errors import LimitError, QueryError
from engine.runs.database import Database, from_text, rows_table, runs_table, schema_table, to_text, workers_table
from engine.runs.processes import host_name, process_exists
from engine.runs.records import ENDED, QueueState, RunRecord, Status, WorkerRecord
from engine.runs.specification import (
    InspectSpecification,
    Specification,
    StudySpecification,
    specification_from_json,
    specification_to_json,
)

#: A worker that has not reported for this long is given up, in seconds. It reports every second, but the operating
#: system may hold it up while a large model is read from a slow disk.
STALE_SECONDS = 30.0

#: The longest description of a run that is taken, in characters of JSON.
LONGEST_SPECIFICATION = 1_000_000

INSPECT = InspectSpecification.kind


class Store:
    """Runs, their rows and the workers, in one database.

    `url` is an SQLAlchemy URL, by default `engine.settings.store_url()`. An object may be shared by threads. Every
    method raises `StoreError` with one sentence where the database cannot be read or written.
    """

    def __init__(self, url: str | None = None) -> None:
        self.url = url or settings.store_url()
        self._database = Database(self.url)

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        self._database.dispose()

    # ------------------------------------------------------------------------------------------ for pages

    def submit(self, specification: Specification) -> str:
        """Queue a run and return its id.

        Raises `LimitError` when too many runs wait already (RELENS_QUEUE), or when the run is described by more text
        than any query needs.
        """
        described = to_text(specification_to_json(specification))
        if len(described) > LONGEST_SPECIFICATION:
            raise LimitError(
                f"A run may be described by {LONGEST_SPECIFICATION:,} characters; this one takes {len(described):,}.",
                limit="specification",
            )
        run_id = secrets.token_hex(8)
        longest = settings.queue_length()
        with self._database.writing() as connection:
            connection.execute(sql.select(schema_table.c.version).with_for_update())
            waiting = connection.scalar(_count(runs_table.c.status == "queued")) or 0
            if waiting >= longest:
                raise LimitError(
                    f"{waiting} runs are waiting already, which is as many as this place allows; try again later.",
                    limit="RELENS_QUEUE",
                )
            connection.execute(
                runs_table.insert().values(
                    id=run_id,
                    kind=specification.kind,
                    status="queued",
                    model=specification.model,
                    specification=described,
                    created=time.time(),
                )
            )
        return run_id

    def get(self, run_id: str) -> RunRecord | None:
        """The run as it stands, or None where there is none of that id."""
        with self._database.reading() as connection:
            return _read_run(connection, run_id)

    def rows(self, run_id: str, after: int = 0, limit: int | None = None) -> list[dict[str, Any]]:
        """The rows numbered above `after`, in order; each is what the worker wrote, with its "number" (from 1)."""
        query = (
            sql.select(rows_table.c.number, rows_table.c.data)
            .where(rows_table.c.run_id == run_id, rows_table.c.number > after)
            .order_by(rows_table.c.number)
            .limit(limit)
        )
        with self._database.reading() as connection:
            found = connection.execute(query).all()
        return [{**from_text(data), "number": number} for number, data in found]

    def recent(self, limit: int = 50, kinds: Sequence[str] = ("search",)) -> list[RunRecord]:
        """The newest runs of these kinds, newest first."""
        query = (
            sql.select(runs_table)
            .where(runs_table.c.kind.in_(kinds))
            .order_by(runs_table.c.sequence.desc())
            .limit(limit)
        )
        with self._database.reading() as connection:
            return [_run_record(row) for row in connection.execute(query).mappings()]

    def queue_position(self, run_id: str) -> int | None:
        """Place of a waiting run in the queue, 1 for the next to start; None where it does not wait."""
        with self._database.reading() as connection:
            run = connection.execute(
                sql.select(runs_table.c.sequence, runs_table.c.kind).where(
                    runs_table.c.id == run_id, runs_table.c.status == "queued"
                )
            ).one_or_none()
            if run is None:
                return None
            before = connection.scalar(
                _count(
                    runs_table.c.status == "queued",
                    (runs_table.c.kind == INSPECT) == (run.kind == INSPECT),
                    runs_table.c.sequence < run.sequence,
                )
            )
        return (before or 0) + 1

    def queue(self) -> QueueState:
        """How many runs wait and run, inspections not counted."""
        with self._database.reading() as connection:
            counts = {
                status: connection.scalar(_count(runs_table.c.status == status, runs_table.c.kind != INSPECT)) or 0
                for status in ("queued", "running")
            }
        return QueueState(waiting=counts["queued"], running=counts["running"])

    def request_stop(self, run_id: str) -> None:
        """Ask for the end of a run: a waiting one is stopped here and now, a running one by its worker."""
        chosen = runs_table.update().where(runs_table.c.id == run_id)
        with self._database.writing() as connection:
            connection.execute(
                chosen.where(runs_table.c.status == "queued").values(
                    status="stopped", ended=time.time(), stop_requested=True
                )
            )
            connection.execute(chosen.where(runs_table.c.status == "running").values(stop_requested=True))

    def repeat(self, run_id: str) -> str:
        """Submit the specification of a run again; returns the id of the new run. `QueryError` if there is no run."""
        run = self.get(run_id)
        if run is None:
            raise QueryError(f"There is no run {run_id!r} to repeat.")
        return self.submit(specification_from_json(run.specification))

    def resume(self, run_id: str) -> None:
        """Queue a study again that was stopped, interrupted or failed; what it has done stays done.

        Raises `QueryError` where there is no such run, it is no study, or it is not over and undone.
        """
        chosen = runs_table.update().where(
            runs_table.c.id == run_id,
            runs_table.c.kind == StudySpecification.kind,
            runs_table.c.status.in_(("stopped", "interrupted", "failed")),
        )
        with self._database.writing() as connection:
            resumed = connection.execute(
                chosen.values(status="queued", stop_requested=False, error=None, ended=None, worker_id=None)
            ).rowcount
        if not resumed:
            raise QueryError(f"There is no study {run_id!r} that could be resumed.")

    def delete(self, run_id: str) -> None:
        """Forget a run and its rows; a running one is abandoned by its worker."""
        with self._database.writing() as connection:
            connection.execute(runs_table.delete().where(runs_table.c.id == run_id))

    def workers(self) -> list[WorkerRecord]:
        """The workers known to the store, the latest heartbeat first."""
        with self._database.reading() as connection:
            found = connection.execute(sql.select(workers_table).order_by(workers_table.c.heartbeat.desc())).mappings()
            return [_worker_record(row) for row in found]

    def check_writable(self) -> None:
        """Raise the `StoreError` that a write would meet now."""
        with self._database.writing() as connection:
            connection.execute(schema_table.update().values(version=schema_table.c.version))

    # ------------------------------------------------------------------------------------------ for workers

    def claim(self, worker_id: str, kinds: Sequence[str] | None = None, model: str | None = None) -> RunRecord | None:
        """Take the waiting run that is next, of these kinds and for this model, and mark it running.

        Inspections go first, because somebody waits for them; then the oldest run. However many workers claim at
        once, each run is given to one of them. None where nothing waits.
        """
        conditions: list[sql.ColumnElement[bool]] = [runs_table.c.status == "queued"]
        if kinds is not None:
            conditions.append(runs_table.c.kind.in_(kinds))
        if model is not None:
            conditions.append(runs_table.c.model == model)
        following = sql.select(runs_table.c.id).where(*conditions)
        with self._database.reading() as connection:
            if connection.execute(following.limit(1)).first() is None:
                return None
        with self._database.writing() as connection:
            run_id = connection.scalar(
                following.order_by(runs_table.c.kind != INSPECT, runs_table.c.sequence)
                .limit(1)
                .with_for_update(skip_locked=True)
            )
            if run_id is None:
                return None
            connection.execute(
                runs_table.update()
                .where(runs_table.c.id == run_id)
                .values(status="running", started=time.time(), worker_id=worker_id)
            )
            return _read_run(connection, run_id)

    def report(
        self,
        run_id: str,
        *,
        stage: str | None = None,
        stage_fraction: float | None = None,
        device: Mapping[str, Any] | None = None,
        model_fingerprint: str | None = None,
        versions: Mapping[str, str] | None = None,
    ) -> None:
        """Say what a running run is busy with, and on what; what is None stays as it was.

        A stage comes with its own fraction: naming a stage without one forgets that of the stage before.
        """
        values: dict[str, Any] = {}
        if stage is not None:
            values |= {"stage": stage, "stage_fraction": stage_fraction}
        if device is not None:
            values["device"] = to_text(dict(device))
        if model_fingerprint is not None:
            values["model_fingerprint"] = model_fingerprint
        if versions is not None:
            values["versions"] = to_text(dict(versions))
        with self._database.writing() as connection:
            connection.execute(_running(run_id).values(values))

    def append(
        self,
        run_id: str,
        rows: Sequence[Mapping[str, Any]],
        progress: Mapping[str, Any] | None = None,
        device: Mapping[str, Any] | None = None,
    ) -> None:
        """Add rows, and set the progress and the use of the device, in one transaction; None leaves as it was."""
        values: dict[str, Any] = {"row_count": runs_table.c.row_count + len(rows)}
        if progress is not None:
            values["progress"] = to_text(dict(progress))
        if device is not None:
            values["device"] = to_text(dict(device))
        with self._database.writing() as connection:
            after = connection.scalar(_running(run_id).values(values).returning(runs_table.c.row_count))
            if after is None or not rows:
                return
            first = after - len(rows) + 1
            connection.execute(
                rows_table.insert(),
                [
                    {"run_id": run_id, "number": number, "data": to_text(dict(row))}
                    for number, row in enumerate(rows, first)
                ],
            )

    def finish(
        self, run_id: str, status: Status, error: str | None = None, progress: Mapping[str, Any] | None = None
    ) -> None:
        """End a running run; one that has ended already stays as it is."""
        if status not in ENDED:
            raise ValueError(f"a run cannot end as {status!r}")
        values: dict[str, Any] = {"status": status, "error": error, "ended": time.time(), "stage": ""}
        values["stage_fraction"] = None
        if progress is not None:
            values["progress"] = to_text(dict(progress))
        with self._database.writing() as connection:
            connection.execute(_running(run_id).values(values))

    def stop_requested(self, run_id: str) -> bool:
        """Whether the worker should leave the run: a stop was asked for, or it is no longer running."""
        query = sql.select(runs_table.c.status, runs_table.c.stop_requested).where(runs_table.c.id == run_id)
        with self._database.reading() as connection:
            run = connection.execute(query).one_or_none()
        return run is None or run.status != "running" or bool(run.stop_requested)

    def heartbeat(
        self,
        worker_id: str,
        state: str,
        model: str = "",
        device: str = "",
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """Report that the calling process, as `worker_id`, is alive and what it does."""
        values = {
            "host": host_name(),
            "pid": os.getpid(),
            "state": state,
            "model": model,
            "device": device,
            "heartbeat": time.time(),
            "extra": to_text(dict(extra or {})),
        }
        with self._database.writing() as connection:
            known = connection.execute(
                workers_table.update().where(workers_table.c.id == worker_id).values(values)
            ).rowcount
            if not known:
                connection.execute(workers_table.insert().values(id=worker_id, **values))

    def forget_worker(self, worker_id: str) -> None:
        """Take a worker that has ended off the list."""
        with self._database.writing() as connection:
            connection.execute(workers_table.delete().where(workers_table.c.id == worker_id))

    def mark_interrupted(self) -> list[str]:
        """Mark the running runs of dead workers as interrupted, keep their rows, and forget those workers.

        Returns the ids of the runs. A worker is dead when it says it has ended, when its process is gone, or when it
        has not reported for `STALE_SECONDS`.
        """
        with self._database.reading() as connection:
            running = connection.execute(
                sql.select(runs_table.c.id, runs_table.c.worker_id).where(runs_table.c.status == "running")
            ).all()
        workers = self.workers()
        alive = {worker.id for worker in workers if worker.alive}
        orphans = [run.id for run in running if run.worker_id not in alive]
        dead = [worker.id for worker in workers if not worker.alive]
        if not orphans and not dead:
            return []
        sentence = "The worker ended before the run was done; the rows found so far are kept."
        with self._database.writing() as connection:
            connection.execute(
                runs_table.update()
                .where(runs_table.c.id.in_(orphans), runs_table.c.status == "running")
                .values(status="interrupted", ended=time.time(), error=sentence, stage="", stage_fraction=None)
            )
            connection.execute(workers_table.delete().where(workers_table.c.id.in_(dead)))
        return orphans

    def forget_inspections(self, older_than: float = 3600.0) -> None:
        """Delete inspections that ended more than `older_than` seconds ago: nobody comes back to those."""
        with self._database.writing() as connection:
            connection.execute(
                runs_table.delete().where(runs_table.c.kind == INSPECT, runs_table.c.ended < time.time() - older_than)
            )


def _count(*conditions: sql.ColumnElement[bool]) -> sql.Select[int]:
    return sql.select(sql.func.count()).select_from(runs_table).where(*conditions)


def _running(run_id: str) -> sql.Update:
    return runs_table.update().where(runs_table.c.id == run_id, runs_table.c.status == "running")


def _read_run(connection: Connection, run_id: str) -> RunRecord | None:
    row = connection.execute(sql.select(runs_table).where(runs_table.c.id == run_id)).mappings().one_or_none()
    return None if row is None else _run_record(row)


def _run_record(row: RowMapping) -> RunRecord:
    values = {name: value for name, value in row.items() if name != "sequence"}
    for name in ("specification", "progress", "versions", "device"):
        values[name] = from_text(values[name])
    return RunRecord(**values)


def _worker_record(row: RowMapping) -> WorkerRecord:
    here = row["host"] == host_name()
    alive = (
        row["state"] != "ended"
        and time.time() - row["heartbeat"] < STALE_SECONDS
        and (not here or process_exists(row["pid"]))
    )
    return WorkerRecord(**{**row, "extra": from_text(row["extra"])}, alive=alive)
