"""A store made by the first version of the program is opened by this one, with everything in it."""

from __future__ import annotations

import sqlite3

import pytest
import sqlalchemy as sql

from relens.errors import StoreError
from relens.runs import database as database_module
from relens.runs.database import to_text
from relens.runs.screens import ScreenStore
from relens.runs.specification import SearchSpecification, StudySpecification, specification_to_json
from relens.runs.store import Store
from relens.studies.bias import BiasStudy
from tests.engine.runs.conftest import POSTGRES
from tests.engine.runs.fakes import specification

#: The tables as version 1 made them, word for word but for what each database calls a counter.
VERSION_1 = """
CREATE TABLE relens_schema (version INTEGER NOT NULL, PRIMARY KEY (version));
CREATE TABLE runs (
    sequence {counter}, id VARCHAR(32) NOT NULL, kind VARCHAR(32) NOT NULL, status VARCHAR(16) NOT NULL,
    model TEXT NOT NULL, specification TEXT NOT NULL, progress TEXT NOT NULL, error TEXT, stage TEXT NOT NULL,
    stage_fraction DOUBLE PRECISION, created DOUBLE PRECISION NOT NULL, started DOUBLE PRECISION,
    ended DOUBLE PRECISION, row_count INTEGER NOT NULL, stop_requested BOOLEAN NOT NULL, model_fingerprint TEXT,
    versions TEXT NOT NULL, worker_id VARCHAR(64), device TEXT NOT NULL, UNIQUE (id));
CREATE INDEX runs_by_status ON runs (status, kind, sequence);
CREATE TABLE rows (
    run_id VARCHAR(32) NOT NULL, number INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY (run_id, number),
    FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE);
CREATE TABLE workers (
    id VARCHAR(64) NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, state VARCHAR(16) NOT NULL, model TEXT NOT NULL,
    device TEXT NOT NULL, heartbeat DOUBLE PRECISION NOT NULL, extra TEXT NOT NULL, PRIMARY KEY (id));
INSERT INTO relens_schema VALUES (1);
"""
COUNTER = "SERIAL PRIMARY KEY" if POSTGRES else "INTEGER PRIMARY KEY AUTOINCREMENT"

ASKED: dict[str, SearchSpecification | StudySpecification] = {
    "first": specification("Caf\u00c9 %_!"),
    "second": StudySpecification("other", BiasStudy(outcomes=("art", "science"))),
}


@pytest.fixture
def old(url):
    """A database of version 1 with two runs, one of which has rows."""
    engine = sql.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        for statement in VERSION_1.format(counter=COUNTER).split(";\n"):
            if statement.strip():
                connection.exec_driver_sql(statement)
        for run_id, specification_of in ASKED.items():
            connection.execute(
                sql.text(
                    "INSERT INTO runs (id, kind, status, model, specification, progress, stage, created, row_count, "
                    "stop_requested, versions, device) VALUES (:id, :kind, 'done', :model, :asked, '{}', '', 1.5, 1, "
                    ":no, '{}', '{}')"
                ),
                {
                    "id": run_id,
                    "kind": specification_of.kind,
                    "model": specification_of.model,
                    "asked": to_text(specification_to_json(specification_of)),
                    "no": False,
                },
            )
            connection.execute(sql.text("INSERT INTO rows VALUES (:id, 1, :data)"), {"id": run_id, "data": '{"a":1}'})
    engine.dispose()
    return url


def test_an_old_store_opens_with_its_runs(old):
    store = Store(old)
    runs = store.find()
    assert [run.id for run in runs] == ["second", "first"]
    assert [run.variety for run in runs] == ["bias", "shortest_path"]
    for run in runs:
        assert run.specification == specification_to_json(ASKED[run.id])
        assert (run.name, run.note, run.pinned, run.deleted, run.origin) == ("", "", False, None, None)
        assert store.rows(run.id) == [{"a": 1, "number": 1}]
    assert [run.id for run in store.find("caf\u00e9")] == ["first"]
    assert [run.id for run in store.find("SCIENCE")] == ["second"]
    store.rename("first", "Coffee")
    store.delete("second")
    store.close()


def test_it_is_brought_up_to_date_once_and_is_then_like_a_new_one(old, tmp_path):
    Store(old).close()
    again = Store(old)
    assert again.submit(specification("b"))
    again.close()
    if not POSTGRES:
        fresh = Store(f"sqlite:///{tmp_path / 'fresh.db'}")
        assert columns(old) == columns(fresh.url)
        fresh.close()


def columns(url):
    with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
        columns_found = {
            name: (bool(required), default)
            for _, name, _, required, default, _ in connection.execute("PRAGMA table_info(runs)")
        }
        assert connection.execute("SELECT version FROM relens_schema").fetchall() == [(3,)]
    # The key is declared in two ways that mean one.
    return {name: definition for name, definition in columns_found.items() if name != "sequence"}


def test_a_step_that_fails_leaves_the_store_as_it_was(old, monkeypatch):
    def broken(connection, version, target):
        connection.exec_driver_sql("ALTER TABLE runs ADD COLUMN half TEXT")
        connection.exec_driver_sql("ALTER TABLE nothing ADD COLUMN half TEXT")

    with monkeypatch.context() as patched:
        patched.setattr(database_module, "migrate", broken)
        with pytest.raises(StoreError):
            Store(old)
    assert len(Store(old).find()) == 2


def test_a_store_of_a_newer_program_is_refused(store, url):
    engine = sql.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(sql.text("UPDATE relens_schema SET version = 99"))
    engine.dispose()
    with pytest.raises(StoreError, match="version 99"):
        Store(url)


#: The table of screens as version 2 made it.
SCREENS_2 = """
CREATE TABLE screens (
    sequence {counter}, id VARCHAR(32) NOT NULL, deck TEXT NOT NULL, position INTEGER NOT NULL,
    digest VARCHAR(64) NOT NULL, data TEXT NOT NULL, created DOUBLE PRECISION NOT NULL, deleted DOUBLE PRECISION,
    UNIQUE (id))
"""


@pytest.mark.parametrize("figure", ["", '{"data": [1, "\ud800\u0000"]}', "<svg/>"])
def test_figures_of_old_screens_are_put_apart_from_their_words(url, figure):
    Store(url).close()
    engine = sql.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE IF EXISTS screens")
        connection.exec_driver_sql(SCREENS_2.format(counter=COUNTER))
        connection.exec_driver_sql("ALTER TABLE runs DROP COLUMN session")
        connection.exec_driver_sql("UPDATE relens_schema SET version = 2")
        connection.execute(
            sql.text(
                "INSERT INTO screens (id, deck, position, digest, data, created) VALUES ('s', '', 0, 'd', :data, 1.5)"
            ),
            {"data": to_text({"title": "t", "sentences": ["It is so."], "figure": figure})},
        )
    engine.dispose()
    for _ in range(2):  # the second time there is nothing to do
        store = ScreenStore(url)
        (kept,) = store.all()
        (card,) = store.cards()
        store.close()
        assert (kept.title, kept.sentences, kept.figure) == ("t", ("It is so.",), figure)
        assert (card.screen.figure, card.preview, card.has_figure) == ("", None, bool(figure))
