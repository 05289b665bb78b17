"""Rows of a run in pages of bounded size, for readers that hold the rows of many runs in memory.

    row_page(run, after=0)          rows 1 to 2,000, which take about 3 MB of memory
    row_page(run, after=2000)       rows 2,001 to 2,013: the last of them is a list of 400,000 numbers
    row_page(run, after=2013)       rows 2,014 to 2,500, and there are no more

A row is a small tree of Python objects and takes several times the memory of its JSON. The size is counted before
decoding, as in `relens.runs.run_file`: each value stands behind one of `, : [ {`.

The rows of a page are made for keeping: they are decoded many at a time, so that they share the names of their fields,
and their lists are tuples, which Python's garbage collector need not visit again and again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sql

from relens.runs.database import rows_table, runs_table
from relens.runs.store_part import StorePart, is_kept

#: A page has at most so many rows, and ends with the row that brings it to so many bytes of memory.
PAGE_ROWS, PAGE_BYTES = 2_000, 16 << 20
#: Rows that are decoded in one call, in number and in characters of JSON: nothing else of Python runs meanwhile.
_BATCH_ROWS, _BATCH_LENGTH = 100, 1 << 18
#: About the bytes of a value besides its characters.
_VALUE_BYTES = 40
_NESTED = frozenset((list, dict))


@dataclass(frozen=True)
class RowPage:
    """Some rows, each with its "number". bytes: about what they take in memory. is_last: no more are there now."""

    rows: list[dict[str, Any]]
    bytes: int
    is_last: bool


class RowPages(StorePart):
    """Reading a run's rows page by page."""

    def row_page(
        self, run_id: str, after: int = 0, most_rows: int = PAGE_ROWS, most_bytes: int = PAGE_BYTES
    ) -> RowPage:
        """The rows numbered above `after`, in order: at most `most_rows`, up to the one that makes `most_bytes`.

        Lists in them are tuples. A run that is deleted has none.
        """
        kept = sql.select(runs_table.c.id).where(runs_table.c.id == run_id, is_kept())
        query = (
            sql.select(rows_table.c.number, rows_table.c.data)
            .where(rows_table.c.run_id == run_id, rows_table.c.number > after, rows_table.c.run_id.in_(kept))
            .order_by(rows_table.c.number)
            .limit(most_rows)
        )
        numbers: list[int] = []
        texts: list[str] = []
        size = 0
        with self._database.reading() as connection:
            # Not all at once: a page may end long before the last row of the query.
            for number, text in connection.execution_options(yield_per=_BATCH_ROWS).execute(query):
                numbers.append(number)
                texts.append(text)
                size += memory_of(text)
                if size >= most_bytes:
                    break
        rows = list(_decoded(texts))
        for number, row in zip(numbers, rows, strict=True):
            row["number"] = number
        return RowPage(rows, size, is_last=len(rows) < most_rows and size < most_bytes)


def memory_of(text: str) -> int:
    """About how many bytes of memory the decoded JSON takes."""
    return len(text) + _VALUE_BYTES * sum(map(text.count, ",:[{"))


def _decoded(texts: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of these texts; rows decoded in one call share the names of their fields."""
    batch: list[str] = []
    length = 0
    for text in texts:
        if batch and (len(batch) == _BATCH_ROWS or length + len(text) > _BATCH_LENGTH):
            yield from map(_held, json.loads(f"[{','.join(batch)}]"))
            batch, length = [], 0
        batch.append(text)
        length += len(text)
    yield from map(_held, json.loads(f"[{','.join(batch)}]"))


def _held(row: dict[str, Any]) -> dict[str, Any]:
    for name, value in row.items():
        if type(value) in _NESTED:
            row[name] = _with_tuples(value)
    return row


def _with_tuples(value: Any) -> Any:
    if type(value) is list:
        return tuple(value if _NESTED.isdisjoint(map(type, value)) else map(_with_tuples, value))
    if type(value) is dict:
        return {name: _with_tuples(item) for name, item in value.items()}
    return value
