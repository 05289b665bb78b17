"""The rows of a run as a page has them so far.

A run may find ten thousand matches while somebody watches, and the page looks twice a second. So each look fetches only
the rows that are new, and the whole is kept with the browser session.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from app.narrative import draws
from engine.runs.records import RunRecord

_MOST_POINTS = 400


class RowSource(Protocol):
    """The part of `engine.runs.store.Store` that is needed here."""

    def rows(self, run_id: str, after: int = 0, limit: int | None = None) -> list[dict[str, Any]]:
        """The rows numbered above `after`."""


@dataclass
class RunRows:
    """The rows of one run, growing at the end, and the bounds on its mass at each look.

    history: (seconds since the search began, lower bound, upper bound), in order of time.
    """

    run_id: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    history: list[tuple[float, float, float]] = field(default_factory=list)

    def refresh(self, store: RowSource) -> int:
        """Fetch what is new; returns how many rows that were."""
        new = store.rows(self.run_id, after=self.rows[-1]["number"] if self.rows else 0)
        self.rows.extend(new)
        return len(new)

    def note(self, run: RunRecord) -> None:
        """Remember the bounds that `run` reports now, if they are news."""
        if "seconds_total" not in run.progress or draws(run) is not None:
            return  # a sample has estimates and no bounds
        lower = run.progress["found_mass"]
        point = (run.progress["seconds_total"], lower, min(1.0, lower + run.progress["remaining_mass"]))
        if not self.history or point[0] > self.history[-1][0]:
            self.history.append(point)
        if len(self.history) > _MOST_POINTS:
            # Every other point, but for the last: the shape of the curve stays.
            self.history = self.history[:-1:2] + self.history[-1:]

    def find(self, number: int) -> dict[str, Any] | None:
        """The row of that number."""
        # Rows are numbered from 1 without gaps, but a page should not fall over if one day they are not.
        if 0 < number <= len(self.rows) and self.rows[number - 1]["number"] == number:
            return self.rows[number - 1]
        return next((row for row in self.rows if row["number"] == number), None)
