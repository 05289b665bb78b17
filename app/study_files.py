"""The rows of a study as a CSV or Parquet file.

Rows of one study tell different things: one kind has a text where another has a number, and some hold lists. A table
has one type a column, so here a column that is not all numbers, or all truths, is text, and what is nested is JSON in
it. CSV goes through `engine.runs.export`, which keeps a spreadsheet from running what a model wrote. Where words are
masked on the page they are in the file too, and the file's name says so.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pyarrow
from pyarrow import parquet

from engine.runs.export import export_rows
from engine.studies.masking import Masker

StudyFormat = Literal["csv", "json", "parquet"]

#: Names that `export_rows` reads in its own way, and what they are called in a file of a study.
_RENAMED = {"edits": "edits (JSON)", "groups": "groups (JSON)", "values": "values (JSON)"}


def file_name(kind: str, run_id: str, ending: str, mask: Masker | None, part: str = "") -> str:
    """What a file of a study's run is called; part: what of the run is in it, where that is not all."""
    return f"relens-{kind}-{run_id[:8]}{part}{'' if mask is None else '-masked'}.{ending}"


def study_file(rows: Sequence[Mapping[str, Any]], format: StudyFormat, mask: Masker | None = None) -> bytes:
    """The rows as the bytes of a file; JSON has them as they are, but for a mask. Raises `QueryError` otherwise."""
    if mask is not None:
        rows = list(mask.rows(rows))
    if format == "parquet":
        return _parquet([_flat(row) for row in rows])
    if format == "csv":
        return export_rows([_flat(row) for row in rows], "csv")
    return export_rows(rows, format)


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        _RENAMED.get(name, name): json.dumps(value) if isinstance(value, (list, tuple, Mapping)) else value
        for name, value in row.items()
    }


def _parquet(rows: Sequence[Mapping[str, Any]]) -> bytes:
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: _column([row.get(name) for row in rows]) for name in names}
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), buffer)
    return buffer.getvalue()


def _column(values: list[Any]) -> pyarrow.Array:
    kinds = {type(value) for value in values if value is not None}
    for allowed, type_ in (({bool}, pyarrow.bool_()), ({int}, pyarrow.int64()), ({int, float}, pyarrow.float64())):
        if kinds and kinds <= allowed:
            return pyarrow.array(values, type_)
    return pyarrow.array([_text(value) for value in values], pyarrow.string())


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode(errors="replace").decode()
