"""The lines of a view of a run's results, computed once for all sessions."""

from __future__ import annotations

import pandas as pd

from relens.query import ShortestPath
from relens.runs.records import RunRecord
from relens_dashboard import narrative
from relens_dashboard.components.result_view import BY_GROUPS, SEQUENCES, View
from relens_dashboard.run_rows import RunRows
from relens_dashboard.tables import GroupLines, Lines, MatchLines, StringLines


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
