"""Rows as a Parquet file whose columns have the same types whatever the rows are.

Types that are read off the values would change with them: a list of edits that is empty in every row would say nothing
of what an edit is, and a number that is missing in one row would turn the others into floats. So the fields of a match
and of a share have their types here; any other column is typed by what is in it, as text where that is nothing.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow  # type: ignore[import-untyped]
from pyarrow import parquet

_TEXT, _NUMBER, _REAL, _TRUTH = pyarrow.string(), pyarrow.int64(), pyarrow.float64(), pyarrow.bool_()
_EDIT = {"operation": _TEXT, "position": _NUMBER, "removed": _TEXT, "written": _TEXT, "part": _TEXT}

_TYPES = {
    **dict.fromkeys(("text", "prefix_text", "unedited"), _TEXT),
    **dict.fromkeys(("number", "prefix_tokens", "count", "encodings", "strings"), _NUMBER),
    **dict.fromkeys(("prefix_log_prob", "log_prob", "decoder_log_prob", "seconds", "weight"), _REAL),
    **dict.fromkeys(("share", "low", "high", "probability", "canonical_share", "effective_samples"), _REAL),
    **dict.fromkeys(("is_canonical", "ended"), _TRUTH),
    "token_ids": pyarrow.list_(_NUMBER),
    **dict.fromkeys(("token_log_probs", "token_decoder_log_probs"), pyarrow.list_(_REAL)),
    "edits": pyarrow.list_(pyarrow.struct(list(_EDIT.items()))),
}


def write_parquet(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> bytes:
    """The rows as the bytes of a Parquet file with these columns; a value that a row does not have is null."""
    arrays = {name: _column(name, [_storable(row.get(name)) for row in rows]) for name in columns}
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table(arrays), buffer)
    return buffer.getvalue()


def _column(name: str, values: list[Any]) -> Any:
    is_empty = all(value is None for value in values)
    return pyarrow.array(values, _TYPES.get(name, _TEXT if is_empty else None))


def _storable(value: Any) -> Any:
    """`value` with what UTF-8 cannot hold replaced, in texts wherever they are."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, (list, tuple)):
        return [_storable(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _storable(item) for name, item in value.items()}
    return value
