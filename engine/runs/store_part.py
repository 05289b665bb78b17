"""A run as the database has it: how it is read, counted and addressed, for all the parts of the store."""

from __future__ import annotations

import sqlalchemy as sql
from sqlalchemy.engine import Connection, RowMapping

from engine.runs.database import Database, from_text, runs_table
from engine.runs.leases import Leases
from engine.runs.records import RunRecord
from engine.runs.specification import InspectSpecification

INSPECT = InspectSpecification.kind

#: Columns that are for the database alone.
_UNTOLD = ("sequence", "search_words", "session")


class StorePart:
    """Some of the store's methods, on a database that it shares with the others."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._leases = Leases()


def is_kept() -> sql.ColumnElement[bool]:
    """That a run is not deleted."""
    return runs_table.c.deleted.is_(None)


def count_runs(*conditions: sql.ColumnElement[bool]) -> sql.Select[int]:
    """How many runs there are for which all of this holds."""
    return sql.select(sql.func.count()).select_from(runs_table).where(*conditions)


def update_running(run_id: str) -> sql.Update:
    """A change of this run, which is none where it does not run."""
    return runs_table.update().where(runs_table.c.id == run_id, runs_table.c.status == "running")


def read_run(connection: Connection, run_id: str) -> RunRecord | None:
    """The run of that id; None where there is none, or where it is deleted."""
    found = connection.execute(sql.select(runs_table).where(runs_table.c.id == run_id, is_kept())).mappings()
    row = found.one_or_none()
    return None if row is None else run_record(row)


def run_record(row: RowMapping) -> RunRecord:
    """A row of the table of runs as others see it."""
    values = {name: value for name, value in row.items() if name not in _UNTOLD}
    for name in ("specification", "progress", "versions", "device"):
        values[name] = from_text(values[name])
    values["pinned"] = bool(values["pinned"])
    values["origin"] = None if values["origin"] is None else from_text(values["origin"])
    return RunRecord(**values)
