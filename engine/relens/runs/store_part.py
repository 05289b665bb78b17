"""Reading, counting and addressing runs in the database, for all parts of the store."""

from __future__ import annotations

import sqlalchemy as sql
from sqlalchemy.engine import Connection, RowMapping

from relens.runs.database import Database, from_text, runs_table
from relens.runs.leases import Leases
from relens.runs.records import RunRecord
from relens.runs.specification import InspectSpecification

INSPECT = InspectSpecification.kind

#: Columns that are not in a `RunRecord`.
_INTERNAL_COLUMNS = ("sequence", "search_words", "session")


class StorePart:
    """Some of the store's methods, on the database of all parts."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._leases = Leases()


def is_kept() -> sql.ColumnElement[bool]:
    """The condition that a run is not deleted."""
    return runs_table.c.deleted.is_(None)


def count_runs(*conditions: sql.ColumnElement[bool]) -> sql.Select[int]:
    """The query for the number of runs that meet all conditions."""
    return sql.select(sql.func.count()).select_from(runs_table).where(*conditions)


def update_running(run_id: str) -> sql.Update:
    """An update of this run that applies only while it is running."""
    return runs_table.update().where(runs_table.c.id == run_id, runs_table.c.status == "running")


def read_run(connection: Connection, run_id: str) -> RunRecord | None:
    """The run of that id; None for an unknown or a deleted one."""
    rows = connection.execute(sql.select(runs_table).where(runs_table.c.id == run_id, is_kept())).mappings()
    row = rows.one_or_none()
    return None if row is None else run_record(row)


def run_record(row: RowMapping) -> RunRecord:
    """The record of a row of the table of runs."""
    values = {name: value for name, value in row.items() if name not in _INTERNAL_COLUMNS}
    for name in ("specification", "progress", "versions", "device"):
        values[name] = from_text(values[name])
    values["pinned"] = bool(values["pinned"])
    values["origin"] = None if values["origin"] is None else from_text(values["origin"])
    return RunRecord(**values)
