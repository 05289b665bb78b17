"""Rows of a search as files for other programs. (Signatures; the bodies follow.)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

Format = Literal["csv", "json", "parquet"]


def export_rows(rows: Sequence[Mapping[str, Any]], format: Format) -> bytes:
    """The rows (as `Store.rows` gives them) as the bytes of a CSV, JSON or Parquet file."""
    raise NotImplementedError


def merge_encodings(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row a string: matches that spell the same text, merged, in the order of the best of them."""
    raise NotImplementedError
