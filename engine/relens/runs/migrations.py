"""Stores of earlier versions of the program, brought up to date in place.

    version 1   runs: specification, progress, rows
    version 2   adds name, note, pin, deletion with undo, and the origin of an imported run
    version 3   adds the session that queued a run; figures of screens apart from their words, each with a small picture

Each step changes the tables; its key is the version that it begins from. All steps run in one transaction, which also
writes the new version: a program that dies in between leaves the store as it was. A step names its columns and types
itself: `relens.runs.database` has the tables of today, and a step must go on doing what it did when it was written.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import sqlalchemy as sql
from sqlalchemy.engine import Connection
from sqlalchemy.schema import CreateColumn

from relens.runs.search_words import search_words, variety

#: Runs whose words are written at once.
_BATCH = 500


def migrate(connection: Connection, version: int, target: int) -> int:
    """Take the tables from `version` as far towards `target` as there are steps; returns the version reached."""
    while version < target and version in _STEPS:
        _STEPS[version](connection)
        version += 1
    return version


def _from_version_1(connection: Connection) -> None:
    for column in (
        sql.Column("variety", sql.String(32), nullable=False, server_default=""),
        sql.Column("name", sql.Text, nullable=False, server_default=""),
        sql.Column("note", sql.Text, nullable=False, server_default=""),
        sql.Column("search_words", sql.Text, nullable=False, server_default=""),
        sql.Column("pinned", sql.Boolean, nullable=False, server_default=sql.false()),
        sql.Column("deleted", sql.Double),
        sql.Column("origin", sql.Text),
    ):
        _add(connection, "runs", column)
    names = ("sequence", "specification", "model", "variety", "search_words")
    runs = sql.table("runs", *(sql.column(name) for name in names))
    after = 0
    while True:
        batch = connection.execute(
            sql.select(runs.c.sequence, runs.c.specification, runs.c.model)
            .where(runs.c.sequence > after)
            .order_by(runs.c.sequence)
            .limit(_BATCH)
        ).all()
        if not batch:
            return
        for sequence, text, model in batch:
            specification = json.loads(text)
            connection.execute(
                runs.update()
                .where(runs.c.sequence == sequence)
                .values(variety=variety(specification), search_words=search_words(specification, "", "", model))
            )
        after = batch[-1].sequence


def _from_version_2(connection: Connection) -> None:
    _add(connection, "runs", sql.Column("session", sql.String(64), nullable=False, server_default=""))
    # Screens exist once somebody has opened a deck; tables made today have these columns.
    inspector = sql.inspect(connection)
    if not inspector.has_table("screens") or "figure" in {
        column["name"] for column in inspector.get_columns("screens")
    }:
        return
    _add(connection, "screens", sql.Column("figure", sql.Text, nullable=False, server_default='""'))
    _add(connection, "screens", sql.Column("preview", sql.Text))
    screens = sql.table("screens", *(sql.column(name) for name in ("sequence", "data", "figure")))
    # One by one: each may be of two million characters.
    for number in connection.scalars(sql.select(screens.c.sequence)).all():
        chosen = screens.c.sequence == number
        data = json.loads(connection.scalar(sql.select(screens.c.data).where(chosen)) or "{}")
        figure = data.pop("figure", "")
        values = {"data": json.dumps(data, separators=(",", ":")), "figure": json.dumps(figure)}
        connection.execute(screens.update().where(chosen).values(values))


def _add(connection: Connection, table: str, column: sql.Column[Any]) -> None:
    # A column compiles into a database's own SQL only as part of a table.
    sql.Table(table, sql.MetaData(), column)
    definition = CreateColumn(column).compile(dialect=connection.dialect)
    connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {definition}")


_STEPS: dict[int, Callable[[Connection], None]] = {1: _from_version_1, 2: _from_version_2}
