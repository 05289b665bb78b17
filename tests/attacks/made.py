"""What an attacker prepares: files of runs that nobody ever ran, and runs put into the store behind its back.

data = run_file(search("(a|b)*a(a|b){40}", model, compile_seconds=1e6))       a file to import
plant(store, search(...), rows)                                               as another program could write them
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from sqlalchemy.engine import make_url

from relens.query import Query
from relens.runs.run_file import read_run
from relens.runs.specification import SearchSpecification
from relens.runs.store import Store
from tests.engine.runs.fakes import match

Json = dict[str, Any]


def some_are_slow(cases: Mapping[str, Any], *quick: str) -> list[Any]:
    """The cases as parameters of a test, named; all but the quick ones for `make attack-tests` alone."""
    return [
        pytest.param(case, id=name, marks=() if name in quick else pytest.mark.slow) for name, case in cases.items()
    ]


def search(pattern: str, model: str, prefix: str = "", **limits: Any) -> Json:
    """A search as JSON, with limits that no form offers."""
    asked = SearchSpecification(model, Query(pattern="a")).to_json()
    asked["query"] |= {"pattern": pattern, "prefix": prefix}
    asked["limits"] |= limits
    return asked


def study(kind: str, model: str, **settings: Any) -> Json:
    """A study as JSON; what is not given takes its default."""
    return {"kind": "study", "model": model, "study": {"kind": kind, **settings}}


def match_row(number: int, text: str | None = None, **values: Any) -> Json:
    """A match as a worker writes it."""
    row = match(number).to_json()
    return row | ({} if text is None else {"text": text}) | values


def run_lines(specification: Json, rows: Iterable[Mapping[str, Any]] = (), **head: Any) -> list[Json]:
    """The lines of a file of a run, but for the last."""
    kept = [dict(row) for row in rows]
    first = {
        "relens_run": 1,
        "exported": 1.0,
        "id": "0123456789abcdef",
        "specification": specification,
        "status": "done",
        "progress": {},
        "error": None,
        "created": 1.0,
        "started": 1.0,
        "ended": 2.0,
        "model_fingerprint": "0123abcd",
        "versions": {"relens": "0.1.0"},
        "name": "",
        "note": "",
        "rows": len(kept),
    }
    return [first | head, *kept]


def packed(lines: Sequence[object]) -> bytes:
    """A file of these lines, with a checksum that fits."""
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    end = {"end": True, "sha256": hashlib.sha256(body).hexdigest()}
    return gzip.compress(body + json.dumps(end).encode() + b"\n")


def run_file(specification: Json, rows: Iterable[Mapping[str, Any]] = (), **head: Any) -> bytes:
    """The file of a run that is done, whatever it says."""
    return packed(run_lines(specification, rows, **head))


def take_in(store: Store, data: bytes) -> str:
    """Import a file; the id of its run. Raises what a page would say of it."""
    return store.import_run(read_run(data))


def plant(
    store: Store, specification: Json, rows: Iterable[Mapping[str, Any]] = (), progress: Json | None = None
) -> str:
    """A run that is over, written into the tables by a program that checks nothing; its id."""
    kept = [json.dumps(dict(row)) for row in rows]
    # A small one first, so that whatever columns the tables have are filled.
    run_id = take_in(store, run_file(search("a", "none")))
    kind = specification["kind"]
    variety = specification["study"]["kind"] if kind == "study" else "shortest_path"
    values = {
        "kind": kind,
        "variety": variety,
        "model": specification["model"],
        "specification": json.dumps(specification),
        "progress": json.dumps(progress or {}),
        "row_count": len(kept),
    }
    with sqlite3.connect(str(make_url(store.url).database), timeout=30.0) as connection:
        setters = ", ".join(f"{name} = ?" for name in values)
        connection.execute(f"UPDATE runs SET {setters} WHERE id = ?", (*values.values(), run_id))
        connection.executemany(
            "INSERT INTO rows (run_id, number, data) VALUES (?, ?, ?)",
            [(run_id, number, row) for number, row in enumerate(kept, 1)],
        )
    connection.close()
    return run_id
