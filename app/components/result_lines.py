"""The lines of a view of a run's results, computed once for all sessions."""

from __future__ import annotations

import pandas as pd

from app import narrative
from app.components.result_view import BY_GROUPS, SEQUENCES, View
from app.run_rows import RunRows
from app.tables import GroupLines, Lines, MatchLines, StringLines
from engine.query import ShortestPath
from engine.runs.records import RunRecord


def result_lines(run: RunRecord, run_rows: RunRows, view: View) -> Lines:
    """The lines of a view of all rows."""
    draws = narrative.draws(run)

    def lines() -> Lines:
        if view.by == SEQUENCES:
            return MatchLines(run_rows.rows, sampled=draws is not None)
        if view.by == BY_GROUPS:
            return GroupLines(run_rows.rows, view.names, view.given, draws=draws)
        shares = narrative.traversal_kind(run) != ShortestPath.kind
        return StringLines(run_rows.rows, shares=shares, draws=draws)

    return run_rows.remember(("lines", view), lines)


def groups_of_view(run: RunRecord, run_rows: RunRows, view: View) -> pd.DataFrame:
    """All lines of a view by groups, for sentences and figures."""
    return run_rows.remember(("groups of", view), lambda: result_lines(run, run_rows, view).frame())
