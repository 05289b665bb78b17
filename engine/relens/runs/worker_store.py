"""The store as a worker sees it: claiming a run, writing its rows, ending it, and heartbeats."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sql
from sqlalchemy.engine import RowMapping

from relens.runs.database import from_text, rows_table, runs_table, to_text, workers_table
from relens.runs.processes import ProcessMark
from relens.runs.records import ENDED, RunRecord, Status, WorkerRecord
from relens.runs.store_part import INSPECT, StorePart, read_run, update_running

#: The field of a worker's figures with the beginning of its process.
_BEGUN = "process_begun"


class WorkerStore(StorePart):
    """Running runs and their workers."""

    def claim(self, worker_id: str, kinds: Sequence[str] | None = None, model: str | None = None) -> RunRecord | None:
        """Take the next waiting run of these kinds and for this model, and mark it running; None where none waits.

        Inspections go first, because somebody waits for them; then the oldest run. If several workers claim at once,
        each run goes to one of them.
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
            return read_run(connection, run_id)

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
        """Set the stage, device, fingerprint and versions of a running run; None leaves a value as it was.

        A stage comes with its own fraction: without one, the fraction of the stage before is cleared.
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
            connection.execute(update_running(run_id).values(values))

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
            after = connection.scalar(update_running(run_id).values(values).returning(runs_table.c.row_count))
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
            connection.execute(update_running(run_id).values(values))

    def stop_requested(self, run_id: str) -> bool:
        """Whether the worker should leave the run: a stop was requested, or it is no longer running."""
        query = sql.select(runs_table.c.status, runs_table.c.stop_requested).where(runs_table.c.id == run_id)
        with self._database.reading() as connection:
            run = connection.execute(query).one_or_none()
        return run is None or run.status != "running" or bool(run.stop_requested)

    def workers(self) -> list[WorkerRecord]:
        """The workers known to the store, the latest heartbeat first."""
        with self._database.reading() as connection:
            rows = connection.execute(sql.select(workers_table).order_by(workers_table.c.heartbeat.desc())).mappings()
            return [self._worker_record(row) for row in rows]

    def heartbeat(
        self,
        worker_id: str,
        state: str,
        model: str = "",
        device: str = "",
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """Report that the calling process, as `worker_id`, is alive, with its state."""
        own = ProcessMark.of(os.getpid())
        values = {
            "host": own.host,
            "pid": own.pid,
            "state": state,
            "model": model,
            "device": device,
            "heartbeat": time.time(),
            "extra": to_text({**(extra or {}), _BEGUN: own.begun}),
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

        Returns the ids of the runs. `relens.runs.leases` decides which workers are dead.
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
        sentence = "The worker ended before the run was done; its rows so far are kept."
        with self._database.writing() as connection:
            connection.execute(
                runs_table.update()
                .where(runs_table.c.id.in_(orphans), runs_table.c.status == "running")
                .values(status="interrupted", ended=time.time(), error=sentence, stage="", stage_fraction=None)
            )
            connection.execute(workers_table.delete().where(workers_table.c.id.in_(dead)))
        self._leases.forget(dead)
        return orphans

    def forget_inspections(self, older_than: float = 3600.0) -> None:
        """Delete inspections that ended more than `older_than` seconds ago: nobody reads them again."""
        with self._database.writing() as connection:
            connection.execute(
                runs_table.delete().where(runs_table.c.kind == INSPECT, runs_table.c.ended < time.time() - older_than)
            )

    def _worker_record(self, row: RowMapping) -> WorkerRecord:
        extra = from_text(row["extra"])
        mark = ProcessMark(row["host"], row["pid"], extra.pop(_BEGUN, None))
        alive = self._leases.lives(row["id"], row["state"], row["heartbeat"], mark)
        return WorkerRecord(**{**row, "extra": extra}, alive=alive)
