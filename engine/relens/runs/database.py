"""The tables and their transactions: the one module where SQLite and PostgreSQL differ.

A dashboard reads a run twice a second while a worker writes to it, from another process. SQLite can do that when

* the journal is a write-ahead log, so that readers go on seeing the last commit while the next is written;
* a writer says so at once (BEGIN IMMEDIATE) and waits for its turn (busy timeout); otherwise its first INSERT could
  fail because another was quicker, and no waiting would help;
* foreign keys are switched on, for each connection.

A commit survives the death of any process (synchronous=NORMAL); only a loss of power can take back the last ones.
PostgreSQL needs none of this, and locks the row that a worker claims.

Both keep JSON as ASCII text: a model may write NUL, lone surrogates or infinite log-probabilities, which the databases'
own JSON types refuse.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sql
from sqlalchemy import exc
from sqlalchemy.engine import URL, Connection, Engine, make_url

from relens.errors import StoreError
from relens.runs.migrations import migrate

SCHEMA_VERSION = 3
BUSY_SECONDS = 5.0

metadata = sql.MetaData()

#: One row; locked by `submit` so that two at once cannot both take the last place in the queue.
schema_table = sql.Table("relens_schema", metadata, sql.Column("version", sql.Integer, primary_key=True))

runs_table = sql.Table(
    "runs",
    metadata,
    sql.Column("sequence", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("id", sql.String(32), nullable=False, unique=True),
    sql.Column("kind", sql.String(32), nullable=False),
    sql.Column("status", sql.String(16), nullable=False),
    sql.Column("model", sql.Text, nullable=False),
    sql.Column("specification", sql.Text, nullable=False),
    sql.Column("progress", sql.Text, nullable=False, default="{}"),
    sql.Column("error", sql.Text),
    sql.Column("stage", sql.Text, nullable=False, default=""),
    sql.Column("stage_fraction", sql.Double),
    sql.Column("created", sql.Double, nullable=False),
    sql.Column("started", sql.Double),
    sql.Column("ended", sql.Double),
    sql.Column("row_count", sql.Integer, nullable=False, default=0),
    sql.Column("stop_requested", sql.Boolean, nullable=False, default=False),
    sql.Column("model_fingerprint", sql.Text),
    sql.Column("versions", sql.Text, nullable=False, default="{}"),
    sql.Column("worker_id", sql.String(64)),
    sql.Column("device", sql.Text, nullable=False, default="{}"),
    sql.Column("variety", sql.String(32), nullable=False, server_default=""),
    sql.Column("name", sql.Text, nullable=False, server_default=""),
    sql.Column("note", sql.Text, nullable=False, server_default=""),
    sql.Column("search_words", sql.Text, nullable=False, server_default=""),
    sql.Column("pinned", sql.Boolean, nullable=False, server_default=sql.false()),
    sql.Column("deleted", sql.Double),
    sql.Column("origin", sql.Text),
    sql.Column("session", sql.String(64), nullable=False, server_default=""),
    sql.Index("runs_by_status", "status", "kind", "sequence"),
    sqlite_autoincrement=True,
)

rows_table = sql.Table(
    "rows",
    metadata,
    sql.Column("run_id", sql.String(32), sql.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    sql.Column("number", sql.Integer, primary_key=True),
    sql.Column("data", sql.Text, nullable=False),
)

workers_table = sql.Table(
    "workers",
    metadata,
    sql.Column("id", sql.String(64), primary_key=True),
    sql.Column("host", sql.Text, nullable=False),
    sql.Column("pid", sql.Integer, nullable=False),
    sql.Column("state", sql.String(16), nullable=False),
    sql.Column("model", sql.Text, nullable=False),
    sql.Column("device", sql.Text, nullable=False),
    sql.Column("heartbeat", sql.Double, nullable=False),
    sql.Column("extra", sql.Text, nullable=False),
)


def to_text(value: Any) -> str:
    """JSON as ASCII; infinities and NaN as Python writes and reads them."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def from_text(text: str) -> Any:
    """The value back from `to_text`."""
    return json.loads(text)


class Database:
    """An engine with its tables in place, and transactions whose errors are sentences."""

    def __init__(self, url: str) -> None:
        try:
            self.url: URL = make_url(url)
            self.name = self.url.render_as_string(hide_password=True)
            self.engine = _create_engine(self.url)
        except (exc.ArgumentError, exc.NoSuchModuleError, ImportError, ValueError) as error:
            raise StoreError("The address of the store of runs (RELENS_STORE) is not a database URL.") from error
        self._writer = self.engine.execution_options(relens_write=True)
        self._prepare()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads, on one state of the database."""
        with self._sentences(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes: all of it is kept, or nothing."""
        with self._sentences(), self._writer.begin() as connection:
            yield connection

    def dispose(self) -> None:
        """Close the idle connections."""
        self.engine.dispose()

    def _prepare(self) -> None:
        """Make the tables where they are missing, bring older ones up to date, and refuse those of another version."""
        with self.writing() as connection:
            if connection.dialect.name == "postgresql":
                # Two processes that start together would both find no tables; the second waits here.
                connection.execute(sql.text("SELECT pg_advisory_xact_lock(7353)"))
            metadata.create_all(connection)
            version = connection.scalar(sql.select(schema_table.c.version))
            if version is None:
                connection.execute(schema_table.insert().values(version=SCHEMA_VERSION))
                version = SCHEMA_VERSION
            elif version < SCHEMA_VERSION:
                version = migrate(connection, version, SCHEMA_VERSION)
                connection.execute(schema_table.update().values(version=version))
        if version != SCHEMA_VERSION:
            raise StoreError(
                f"The store {self.name} was made by another version of Relens (its tables are of version {version}, "
                f"this program reads version {SCHEMA_VERSION}); name another with RELENS_STORE."
            )

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except exc.SQLAlchemyError as error:
            raise StoreError(_sentence(error, self.name)) from error


def _create_engine(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        if url.drivername == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        return sql.create_engine(url, pool_pre_ping=True, pool_size=5, max_overflow=20, pool_timeout=BUSY_SECONDS)
    engine = sql.create_engine(
        url, connect_args={"timeout": BUSY_SECONDS}, pool_size=5, max_overflow=20, pool_timeout=BUSY_SECONDS
    )

    @sql.event.listens_for(engine, "connect")
    def configure(connection: sqlite3.Connection, _record: object) -> None:
        # The driver would begin transactions by guessing from the statement; `begin` below says which kind.
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")

    @sql.event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("relens_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


_SQLITE_SENTENCES = {
    sqlite3.SQLITE_FULL: "The disk that holds the store of runs ({name}) is full.",
    sqlite3.SQLITE_IOERR: "The disk that holds the store of runs ({name}) could not be read or written.",
    sqlite3.SQLITE_BUSY: "The store of runs ({name}) is locked by another program.",
    sqlite3.SQLITE_LOCKED: "The store of runs ({name}) is locked by another program.",
    sqlite3.SQLITE_CANTOPEN: "The store of runs ({name}) could not be opened; is its folder there and usable?",
    sqlite3.SQLITE_READONLY: "The store of runs ({name}) may be read but not written.",
    sqlite3.SQLITE_PERM: "The store of runs ({name}) may not be read.",
    sqlite3.SQLITE_CORRUPT: "The store of runs ({name}) is damaged.",
    sqlite3.SQLITE_NOTADB: "The file of the store of runs ({name}) is not a database.",
}


def _sentence(error: exc.SQLAlchemyError, name: str) -> str:
    """The error as a sentence; the address in `name` is without its password."""
    if isinstance(error, exc.TimeoutError):
        return f"The store of runs ({name}) is too busy to answer."
    cause = error.orig if isinstance(error, exc.DBAPIError) else None
    if isinstance(cause, sqlite3.Error):
        # The lowest byte is the kind of error, the others its particulars (https://sqlite.org/rescode.html).
        known = _SQLITE_SENTENCES.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF)
        if known is not None:
            return known.format(name=name)
    state = getattr(cause, "sqlstate", None) or ""
    if state == "53100":
        return f"The disk that holds the store of runs ({name}) is full."
    if cause is not None and (
        state.startswith(("08", "57P")) or (not state and isinstance(error, exc.OperationalError))
    ):
        return f"The store of runs ({name}) cannot be reached."
    return f"The store of runs ({name}) refused: {_first_line(cause or error)}."


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
