"""A run as a line of a list: everything but its specification.

    store.listed(limit=25)       25 lines, each of some hundred characters
    store.find(limit=25)         25 runs with their specifications, each of up to a million

Every open list is drawn anew every few seconds, and a specification never changes. So a list reads these lines, and the
query of an unnamed run is read once (`relens_dashboard.runs.questions`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy.engine import RowMapping

from relens.runs.database import from_text
from relens.runs.records import ENDED, Status


@dataclass(frozen=True)
class ListedRun:
    """The fields of a `RunRecord` that a list shows, of the same meaning."""

    id: str
    kind: str
    variety: str
    status: Status
    model: str
    name: str
    pinned: bool
    created: float
    started: float | None
    ended: float | None
    row_count: int
    progress: dict[str, Any]
    origin: dict[str, Any] | None

    @property
    def is_live(self) -> bool:
        """Whether the run waits or is being worked on."""
        return self.status not in ENDED


#: The columns of the table of runs for a `ListedRun`.
COLUMNS = tuple(field.name for field in fields(ListedRun))


def listed_run(row: RowMapping) -> ListedRun:
    """The listed run of a row with these columns."""
    values = dict(row)
    values["progress"] = from_text(values["progress"])
    values["pinned"] = bool(values["pinned"])
    values["origin"] = None if values["origin"] is None else from_text(values["origin"])
    return ListedRun(**values)
