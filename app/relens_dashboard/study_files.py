"""The rows of a study as a CSV or Parquet file.

Rows of one study have several kinds: one has a text where another has a number, and some hold lists. A table has one
type a column, so `relens.runs.parquet` writes a column as text unless all of it is numbers or truths, and nested values
as JSON. CSV goes through `relens.runs.export`, which keeps a spreadsheet from running a model's text as a formula. A
file has the page's masked words, and then its name ends in "-masked".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from relens.runs.export import export_rows
from relens.runs.parquet import write_parquet
from relens.studies.masking import Masker

StudyFormat = Literal["csv", "json", "parquet"]

#: Names with a special meaning for `export_rows`, and their names in a file of a study.
_RENAMED = {"edits": "edits (JSON)", "groups": "groups (JSON)", "values": "values (JSON)"}


def file_name(kind: str, run_id: str, ending: str, mask: Masker | None, part: str = "") -> str:
    """The name of a file of a study's run. part: marks a file with only a part of the run."""
    return f"relens-{kind}-{run_id[:8]}{part}{'' if mask is None else '-masked'}.{ending}"


def study_file(rows: Sequence[Mapping[str, Any]], format: StudyFormat, mask: Masker | None = None) -> bytes:
    """The rows as the bytes of a file; JSON keeps them unchanged but for a mask. Raises as `export_rows`."""
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
