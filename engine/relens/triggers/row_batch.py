"""Records of tensors that have a row for each search, and can be taken apart and mended row by row.

    inputs as they stand          how are you              states, slopes, bounds of row 0
                                  we went [home] today                           of row 1   <- made anew
                                  no not at all                                  of row 2

Of many searches side by side only some change their input at a time, so the records of the others stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import torch


@dataclass
class RowBatch:
    """A dataclass with rows first in its tensors, and in those of inner records; other fields belong to all rows."""

    def take(self, rows: torch.Tensor | slice) -> Self:
        """Some rows, by their numbers, int64, or as a slice, which copies nothing."""
        return replace(
            self,
            **{
                name: value.take(rows) if isinstance(value, RowBatch) else value[rows]
                for name, value in self._rows_of_fields()
            },
        )

    def put(self, rows: torch.Tensor, other: Self) -> None:
        """Overwrite some rows, by their numbers, with all rows of another record of the same kind."""
        for (_, value), (_, new) in zip(self._rows_of_fields(), other._rows_of_fields(), strict=True):
            if isinstance(value, RowBatch):
                value.put(rows, new)
            else:
                value[rows] = new

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """All rows of several records, one after the other, with the other fields of the first."""
        if len(parts) == 1:
            return parts[0]
        tensors = {}
        for name, value in parts[0]._rows_of_fields():
            values = [getattr(part, name) for part in parts]
            tensors[name] = type(value).joined(values) if isinstance(value, RowBatch) else torch.cat(values)
        return replace(parts[0], **tensors)

    def _rows_of_fields(self) -> Iterator[tuple[str, Any]]:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, torch.Tensor | RowBatch):
                yield field.name, value
