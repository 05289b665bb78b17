"""Rows as a Parquet file, each column of one type.

Matches have the same types for all rows. Types read off the values would change with them: a list of edits that is
empty in every row would have no type, and a number that is missing in one row would turn the others into floats. So
`MATCH_TYPES` has the fields of a match and of a share.

Any other column is typed by its values:

    3, None, 4      whole numbers          True, None      truths          None            text
    3, 0.5          numbers                3, "three"      text            [1, 2], "a"     text: [1, 2] as JSON
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow  # type: ignore[import-untyped]
from pyarrow import parquet

_TEXT, _NUMBER, _REAL, _TRUTH = pyarrow.string(), pyarrow.int64(), pyarrow.float64(), pyarrow.bool_()
_EDIT = {"operation": _TEXT, "position": _NUMBER, "removed": _TEXT, "written": _TEXT, "part": _TEXT}

#: The types of the rows of a search, and of their shares.
MATCH_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(("text", "prefix_text", "unedited"), _TEXT),
    **dict.fromkeys(("number", "prefix_tokens", "count", "encodings", "strings"), _NUMBER),
    **dict.fromkeys(("prefix_log_prob", "log_prob", "decoder_log_prob", "seconds", "weight"), _REAL),
    **dict.fromkeys(("share", "low", "high", "probability", "canonical_share", "effective_samples"), _REAL),
    **dict.fromkeys(("is_canonical", "ended"), _TRUTH),
    "token_ids": pyarrow.list_(_NUMBER),
    **dict.fromkeys(("token_log_probs", "token_decoder_log_probs"), pyarrow.list_(_REAL)),
    "edits": pyarrow.list_(pyarrow.struct(list(_EDIT.items()))),
}


def write_parquet(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str], types: Mapping[str, Any] | None = None
) -> bytes:
    """The rows as the bytes of a Parquet file with these columns; a value that a row does not have is null.

    types: of pyarrow, by column; any other column is typed by its values.
    """
    arrays = {name: _column([_storable(row.get(name)) for row in rows], (types or {}).get(name)) for name in columns}
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table(arrays), buffer)
    return buffer.getvalue()


def _column(values: list[Any], known: Any) -> Any:
    if known is not None:
        return pyarrow.array(values, known)
    kinds = {type(value) for value in values if value is not None}
    for allowed, column_type in (({bool}, _TRUTH), ({int}, _NUMBER), ({int, float}, _REAL)):
        if kinds and kinds <= allowed:
            return pyarrow.array(values, column_type)
    return pyarrow.array([_text(value) for value in values], _TEXT)


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _storable(value: Any) -> Any:
    """`value` with characters that UTF-8 cannot hold replaced, in all texts in it."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, (list, tuple)):
        return [_storable(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _storable(item) for name, item in value.items()}
    return value
