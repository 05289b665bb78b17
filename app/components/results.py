"""What was found, as it arrives: table, charts, files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app import narrative
from app.components.conclusions import other_traversal
from app.components.result_charts import result_charts
from app.components.result_view import BY_GROUPS, SEQUENCES, View, choose_view
from app.run_rows import RunRows
from app.services import Services
from app.tables import COLUMN_HELP, HIDDEN, groups_table, matches_table, strings_table
from engine.counted import counted
from engine.query import ShortestPath
from engine.runs.export import Format, export_rows, export_shares
from engine.runs.records import RunRecord
from engine.traversal.summaries import by_group, group_names

#: Above this many lines the browser fetches what it shows, and is not sent the whole table at every look.
_LAZY_ABOVE = 1_000
#: A table of so many lines is as high as they are.
_FEW_LINES = 12

_FORMATS: tuple[tuple[Format, str, str], ...] = (
    ("csv", "CSV", "text/csv"),
    ("json", "JSON", "application/json"),
    ("parquet", "Parquet", "application/vnd.apache.parquet"),
)

_WIDTHS = {"#": 50, "Text": 220, "Prefix": 150, "Edits": 170, "95 %": 150, "Share": 90, "Probability": 100, "Draws": 80}
_FORMATTED = {"Probability": "%.3g", "Model": "%.3g", "Weight": "%.3g", "Worth": "%.0f", "log P decoder": "%.4f"}
_FORMATTED |= {"log P model": "%.4f", "log P prefix": "%.4f", "Share": "percent", "Own spelling": "percent"}


def results(services: Services, run: RunRecord, found: RunRows) -> int | None:
    """Show what was found; returns the number of the match that is selected."""
    query: Mapping[str, Any] = run.specification.get("query", {})
    kind = narrative.traversal_kind(run)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        view = choose_view(
            group_names(found.rows), str(query.get("prefix", "")), prefer_groups=kind != ShortestPath.kind
        )
        logarithms = view.by != BY_GROUPS and st.toggle(
            "Logarithms",
            key="show_logarithms",
            persist_state="page",
            help="Show the scores as natural logarithms (nats) too.",
        )
        st.space("stretch")
        if not run.is_live:
            other_traversal(run)
        _downloads(run, found, view)
    table = result_table(run, found, view)
    shown, drawn = st.columns([7, 4], gap="medium")
    with shown:
        key = f"matches_{found.run_id}_{view.by}"
        selected = _table(table, run, logarithms=logarithms, selectable=view.by != BY_GROUPS, key=key)
        st.caption(_legend(run, view, table))
    with drawn:
        result_charts(services, run, found, view, table)
    if selected is None or selected >= len(table):
        return None
    return int(table["number"].iloc[selected])


def result_table(run: RunRecord, found: RunRows, view: View) -> pd.DataFrame:
    """The table of a view, kept as long as nothing is new: a page is drawn often, and a sample may have many rows."""
    draws = narrative.draws(run)
    asked = (found.run_id, len(found.rows), draws, view)
    remembered: tuple[Any, pd.DataFrame] | None = st.session_state.get("result_table")
    if remembered is not None and remembered[0] == asked:
        return remembered[1]
    if view.by == SEQUENCES:
        table = matches_table(found.rows, sampled=draws is not None)
    elif view.by == BY_GROUPS:
        table = groups_table(found.rows, view.names, view.given, draws=draws)
    else:
        shares = narrative.traversal_kind(run) != ShortestPath.kind
        table = strings_table(found.rows, shares=shares, draws=draws)
    st.session_state["result_table"] = (asked, table)
    return table


def _downloads(run: RunRecord, found: RunRows, view: View) -> None:
    what = "All matches found so far, one line a token sequence, every score,"
    if view.by == BY_GROUPS:
        what = "The shares of this table"
    for name, label, mime in _FORMATS:
        st.download_button(
            label,
            data=lambda name=name: _file(run, found, view, name),
            file_name=f"relens-{found.run_id[:8]}.{name}",
            mime=mime,
            on_click="ignore",
            key=f"download_{name}",
            icon=":material/download:",
            help=f"{what} as {label}.",
        )


def _file(run: RunRecord, found: RunRows, view: View, name: Format) -> bytes:
    if view.by == BY_GROUPS:
        return export_shares(by_group(found.rows, view.names, view.given, draws=narrative.draws(run)), name)
    return export_rows(found.rows, name)


def _table(table: pd.DataFrame, run: RunRecord, *, logarithms: bool, selectable: bool, key: str) -> int | None:
    columns = [name for name in table.columns if name not in HIDDEN and (logarithms or not name.startswith("log P"))]
    event: Any = st.dataframe(
        table[columns],
        key=key,
        # While lines come in, what stands below the table stays where it is.
        height="content" if len(table) <= _FEW_LINES and not run.is_live else 430,
        hide_index=True,
        column_order=columns,
        on_select="rerun" if selectable else "ignore",
        selection_mode="single-row",
        lazy=True if len(table) > _LAZY_ABOVE else None,
        alt=f"Table of {counted(len(table), 'line')}",
        column_config={name: _column(name, table[name]) for name in columns},
    )
    rows = event.selection.rows if selectable and event else []
    return int(rows[0]) if rows else None


def _column(name: str, values: pd.Series) -> Any:
    told = COLUMN_HELP.get(name, "The text of this named group of the query; (none) where it took no part.")
    if values.dtype == bool:
        return st.column_config.CheckboxColumn(width=85, help=told)
    if pd.api.types.is_numeric_dtype(values):
        return st.column_config.NumberColumn(width=_WIDTHS.get(name, 90), format=_FORMATTED.get(name), help=told)
    return st.column_config.TextColumn(width=_WIDTHS.get(name, 130), help=told)


def _legend(run: RunRecord, view: View, table: pd.DataFrame) -> str:
    """What is to be known of the table beside its columns."""
    parts = [] if view.by == BY_GROUPS else ["Select a line to see its tokens."]
    kind = narrative.traversal_kind(run)
    if kind == ShortestPath.kind and view.by == BY_GROUPS:
        parts.append("Shares of what was found; a distribution goes on until next to nothing is left.")
    elif kind == ShortestPath.kind and "Encodings" in table and (table["Encodings"] > 1).any():
        parts.append("Lines are in the order of their best encoding.")
    if run.is_live and narrative.draws(run) is not None:
        parts.append("Draws that end early come first: wait for the last before you read shares.")
    return " ".join(parts)
