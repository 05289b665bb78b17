"""The rows of a study as a CSV or Parquet file.

Rows of one study tell different things: one kind has a text where another has a number, and some hold lists. A table
has one type a column, so `engine.runs.parquet` makes text of a column that is not all numbers, or all truths, and what
is nested is JSON. CSV goes through `engine.runs.export`, which keeps a spreadsheet from running what a model wrote.
Where words are masked on the page they are in the file too, and the file's name says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from engine.runs.export import export_rows
from engine.runs.parquet import write_parquet
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
        flat = [_flat(row) for row in rows]
        return write_parquet(flat, list(dict.fromkeys(name for row in flat for name in row)))
    if format == "csv":
        return export_rows([_flat(row) for row in rows], "csv")
    return export_rows(rows, format)


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        _RENAMED.get(name, name): json.dumps(value) if isinstance(value, (list, tuple, Mapping)) else value
        for name, value in row.items()
    }
