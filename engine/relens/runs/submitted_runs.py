"""The store as a page sees it: submitting a run, following it, stopping it, repeating it."""

from __future__ import annotations

import secrets
import time
from typing import Any

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from relens import settings
from relens.errors import LimitError, QueryError
from relens.runs.ceilings import within_ceilings
from relens.runs.database import from_text, rows_table, runs_table, schema_table, to_text
from relens.runs.records import QueueState, RunRecord
from relens.runs.search_words import search_words, variety
from relens.runs.sizes import check_sizes
from relens.runs.specification import (
    Specification,
    StudySpecification,
    specification_from_json,
    specification_to_json,
)
from relens.runs.store_part import INSPECT, StorePart, count_runs, is_kept, read_run


class SubmittedRuns(StorePart):
    """Runs as pages submit and follow them."""

    def submit(self, specification: Specification, session: str = "") -> str:
        """Queue a run and return its id.

        session: the browser session that queues it, "" for none. One session may fill half of the queue, so that others
        have room. Inspections have a queue of their own, of the same length, because somebody waits for them.

        Its limits are clamped (`relens.runs.ceilings`). Raises `LimitError` when too many runs wait already
        (RELENS_QUEUE), or when the description is too large (`relens.runs.sizes`).
        """
        data = specification_to_json(within_ceilings(specification))
        check_sizes(data)
        run_id = secrets.token_hex(8)
        with self._database.writing() as connection:
            connection.execute(sql.select(schema_table.c.version).with_for_update())
            _check_room(connection, specification.kind, session)
            connection.execute(
                runs_table.insert().values(
                    id=run_id,
                    kind=specification.kind,
                    status="queued",
                    model=specification.model,
                    specification=to_text(data),
                    session=session,
                    created=time.time(),
                    variety=variety(data),
                    search_words=search_words(data, "", "", specification.model),
                )
            )
        return run_id

    def get(self, run_id: str) -> RunRecord | None:
        """The run as it stands now; None for an unknown id."""
        with self._database.reading() as connection:
            return read_run(connection, run_id)

    def rows(self, run_id: str, after: int = 0, limit: int | None = None) -> list[dict[str, Any]]:
        """The rows numbered above `after`, in order; each as the worker wrote it, with its "number" (from 1)."""
        kept = sql.select(runs_table.c.id).where(runs_table.c.id == run_id, is_kept())
        query = (
            sql.select(rows_table.c.number, rows_table.c.data)
            .where(rows_table.c.run_id == run_id, rows_table.c.number > after, rows_table.c.run_id.in_(kept))
            .order_by(rows_table.c.number)
            .limit(limit)
        )
        with self._database.reading() as connection:
            stored = connection.execute(query).all()
        return [{**from_text(data), "number": number} for number, data in stored]

    def queue_position(self, run_id: str) -> int | None:
        """Place of a waiting run in the queue, 1 for the next to start; None for a run that does not wait."""
        with self._database.reading() as connection:
            run = connection.execute(
                sql.select(runs_table.c.sequence, runs_table.c.kind).where(
                    runs_table.c.id == run_id, runs_table.c.status == "queued"
                )
            ).one_or_none()
            if run is None:
                return None
            before = connection.scalar(
                count_runs(
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
                status: connection.scalar(count_runs(runs_table.c.status == status, runs_table.c.kind != INSPECT)) or 0
                for status in ("queued", "running")
            }
        return QueueState(waiting=counts["queued"], running=counts["running"])

    def request_stop(self, run_id: str) -> None:
        """Stop a run: a waiting one at once, a running one by its worker."""
        chosen = runs_table.update().where(runs_table.c.id == run_id)
        with self._database.writing() as connection:
            connection.execute(
                chosen.where(runs_table.c.status == "queued").values(
                    status="stopped", ended=time.time(), stop_requested=True
                )
            )
            connection.execute(chosen.where(runs_table.c.status == "running").values(stop_requested=True))

    def repeat(self, run_id: str, session: str = "") -> str:
        """Submit the specification of a run again; returns the id of the new run. `QueryError` if there is no run."""
        run = self.get(run_id)
        if run is None:
            raise QueryError(f"There is no run {run_id!r} to repeat.")
        return self.submit(specification_from_json(run.specification), session)

    def resume(self, run_id: str) -> None:
        """Queue a study again that was stopped, interrupted or failed; its finished units stay.

        Raises `QueryError` for an unknown run, for one that is not a study or not unfinished, and for an imported one:
        rows of this installation's model would be mixed with those of another's.
        """
        chosen = runs_table.update().where(
            runs_table.c.id == run_id,
            runs_table.c.kind == StudySpecification.kind,
            runs_table.c.status.in_(("stopped", "interrupted", "failed")),
            runs_table.c.origin.is_(None),
            is_kept(),
        )
        with self._database.writing() as connection:
            resumed = connection.execute(
                chosen.values(status="queued", stop_requested=False, error=None, ended=None, worker_id=None)
            ).rowcount
        if not resumed:
            raise QueryError(f"There is no study {run_id!r} that could be resumed.")


def _check_room(connection: Connection, kind: str, session: str) -> None:
    """Raise `LimitError` where no more runs of this kind, or of this session, may wait."""
    longest = settings.queue_length()
    waits = (runs_table.c.status == "queued", (runs_table.c.kind == INSPECT) == (kind == INSPECT))
    waiting = connection.scalar(count_runs(*waits)) or 0
    if waiting >= longest:
        raise LimitError(
            f"{waiting} runs are waiting already, the most that this server allows; try again later.",
            limit="RELENS_QUEUE",
        )
    share = max(1, longest // 2)
    if session and (connection.scalar(count_runs(*waits, runs_table.c.session == session)) or 0) >= share:
        raise LimitError(
            f"{share} runs of this browser window are waiting already, its share of the queue; stop one, or try again "
            "later.",
            limit="RELENS_QUEUE",
        )
