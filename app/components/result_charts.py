"""The charts beside the results. Only the one that is looked at is drawn, since this runs at every look."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from app import charts, narrative, share_charts
from app.components.result_view import BY_GROUPS, SEQUENCES, View
from app.run_rows import RunRows
from app.sample_check import compare
from app.tables import group_column, group_key, shown_value, string_key, strings_table, told_apart
from app.text import as_markdown
from engine.query import Encoding, ShortestPath
from engine.runs.records import RunRecord


def result_charts(run: RunRecord, found: RunRows, view: View, table: pd.DataFrame) -> None:
    """Show the charts that say something of this run; `table` is the one beside them."""
    kind, draws = narrative.traversal_kind(run), narrative.draws(run)
    offered: dict[str, Callable[[], None]] = {}
    if "Share" in table:
        offered["Shares"] = lambda: _shares(view, table)
    else:
        name = "Likeliest" if kind == ShortestPath.kind else "Probability"
        offered[name] = lambda: _chart(charts.probability_bars(table), "best")
    if draws is not None:
        offered["Against exact"] = lambda: _against_exact(run, found, view, table, draws)
    if any(row.get("unedited") is not None for row in found.rows):
        offered["Edits"] = lambda: _chart(share_charts.edit_positions(found.rows), "edits")
    if run.specification.get("query", {}).get("encoding", Encoding.ALL) == Encoding.ALL:
        offered["Spelling"] = lambda: _spelling(found, view, table, draws)
    if draws is None:
        offered["Bounds"] = lambda: _bounds(found)
        offered["Pace"] = lambda: _chart(charts.matches_over_time(found.rows), "pace")
    tabs = st.tabs(list(offered), key=f"result_charts_{kind}_{len(offered)}", on_change="rerun")
    for tab, draw in zip(tabs, offered.values(), strict=True):
        if tab.open:
            with tab:
                draw()


def _shares(view: View, table: pd.DataFrame) -> None:
    if view.by == BY_GROUPS:
        columns = [group_column(name) for name in view.values], [group_column(name) for name in view.given]
        _chart(share_charts.share_bars(table, *columns), "shares")
    else:
        _chart(share_charts.share_bars(table), "shares")


def _against_exact(run: RunRecord, found: RunRows, view: View, table: pd.DataFrame, draws: int) -> None:
    if "Share" not in table:
        st.caption("Look at the results by strings or by groups to compare their shares.")
        return
    prefix_by = str(run.specification.get("traversal", {}).get("prefix_by", "strings"))
    if view.by == BY_GROUPS:
        order = [*view.given, *view.values]
        labels = [" · ".join(map(shown_value, key)) for key in table["key"]]
        compared, reason = compare(
            found.rows,
            table,
            labels,
            lambda row: group_key(row, order),
            given=len(view.given),
            draws=draws,
            prefix_by=prefix_by,
        )
    else:
        compared, reason = compare(found.rows, table, told_apart(table), string_key, draws=draws, prefix_by=prefix_by)
    _chart(share_charts.sample_against_exact(compared), "exact")
    if reason:
        st.caption(as_markdown(reason))


def _spelling(found: RunRows, view: View, table: pd.DataFrame, draws: int | None) -> None:
    strings = strings_table(found.rows, draws=draws) if view.by in (BY_GROUPS, SEQUENCES) else table
    _chart(share_charts.spelling_bars(strings), "spelling")


def _bounds(found: RunRows) -> None:
    if len(found.history) > 1:
        _chart(charts.mass_over_time(found.history), "bounds")
    else:
        st.caption("The bounds over time are drawn while you watch a run.")


def _chart(chart: charts.Chart, name: str) -> None:
    st.plotly_chart(chart.figure, key=f"chart_{name}", config=charts.CONFIG, alt=chart.alt)
