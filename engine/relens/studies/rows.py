"""Rows of studies as records: a unit yields them, the store keeps them as JSON, findings read them.

    @dataclass(frozen=True)
    class Choice(StudyRow):
        row_name = "choice"
        text: str
        share: float

    yield Choice("1732", share=0.4)                                             a unit of work
    {"unit": "choices", "row": "choice", "text": "1732", "share": 0.4}          the store
    Choice.all_in(rows)  ->  [Choice("1732", share=0.4, unit="choices")]        findings

The names of fields are those in the store and in exported files, which other programs read; so a field keeps its name.
A field that older rows lack has a default.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from relens.errors import QueryError
from relens.record import Record

#: A row as the store has it: the key of its unit as "unit", its kind as "row": first "begin", last "done". The store
#: adds its own "number".
Row = dict[str, Any]
Rows = Iterable[Mapping[str, Any]]

UNIT, ROW, BEGIN, DONE = "unit", "row", "begin", "done"


@dataclass(frozen=True)
class StudyRow(Record):
    """One kind of rows. row_name: what it has as "row". unit: the key of its unit, which `StudyRun` fills in."""

    row_name: ClassVar[str]
    unit: str = field(default="", kw_only=True)

    def to_json(self) -> Row:
        """The row as it is stored."""
        values = super().to_json()
        return {UNIT: values.pop("unit"), ROW: self.row_name, **values}

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """The row back from the store, which may have more in it. Raises `QueryError` for what is no such row."""
        try:
            return cls._read(row)
        except QueryError as error:
            raise QueryError(f"The rows do not fit the study: {error.sentence}") from None

    @classmethod
    def all_in(cls, rows: Rows, unit: str | None = None) -> list[Self]:
        """Those of this kind among the rows that count, of one unit or of all. Raises `QueryError`."""
        return [cls.read(row) for row in rows_of(rows, cls.row_name, unit)]

    @classmethod
    def by_unit(cls, rows: Rows) -> Mapping[str, list[Self]]:
        """Those of this kind among the rows that count, by unit; none for a unit without. Raises `QueryError`."""
        units: dict[str, list[Self]] = defaultdict(list)
        for row in cls.all_in(rows):
            units[row.unit].append(row)
        return units


def done_units(rows: Rows) -> set[str]:
    """The keys of the units that are done by these rows."""
    return {str(row[UNIT]) for row in rows if row.get(ROW) == DONE}


def current_rows(rows: Rows) -> list[Mapping[str, Any]]:
    """The rows that count: of each unit those since it last began."""
    kept = list(rows)
    last = {row[UNIT]: place for place, row in enumerate(kept) if row.get(ROW) == BEGIN}
    return [row for place, row in enumerate(kept) if place >= last.get(row.get(UNIT), 0)]


def rows_of(rows: Rows, kind: str, unit: str | None = None) -> list[Mapping[str, Any]]:
    """The rows that count and are of this kind, of one unit or of all."""
    return [row for row in current_rows(rows) if row.get(ROW) == kind and (unit is None or row.get(UNIT) == unit)]
