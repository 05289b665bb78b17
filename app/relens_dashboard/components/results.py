"""The matches of a run, as they arrive: table, charts, files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relens.counted import counted
from relens.query import ShortestPath
from relens.runs.export import Format, export_rows, export_shares
from relens.runs.records import MOST_ROWS, RunRecord
from relens.traversal.summaries import by_group, group_names
from relens_dashboard import narrative
from relens_dashboard.components.conclusions import other_traversal
from relens_dashboard.components.pager import LINES, paged_lines
from relens_dashboard.components.result_charts import result_charts
from relens_dashboard.components.result_lines import result_lines
from relens_dashboard.components.result_view import BY_GROUPS, SEQUENCES, View, choose_view
from relens_dashboard.run_rows import RunRows, read_all_rows, stored_rows
from relens_dashboard.services import Services
from relens_dashboard.tables import COLUMN_HELP, HIDDEN, Lines, MatchLines, StringLines
from relens_dashboard.text import as_markdown

#: A table of at most so many lines shows them without scrolling.
_FEW_LINES = 12

_FORMATS: tuple[tuple[Format, str, str], ...] = (
    ("csv", "CSV", "text/csv"),
    ("json", "JSON", "application/json"),
    ("parquet", "Parquet", "application/vnd.apache.parquet"),
)

_WIDTHS = {"#": 50, "Text": 220, "Prefix": 150, "Edits": 170, "95 %": 150, "Share": 90, "Probability": 100, "Draws": 80}
_FORMATTED = {
    "Probability": "%.3g",
    "Model": "%.3g",
    "Weight": "%.3g",
    "Effective sample size": "%.0f",
    "log P decoder": "%.4f",
}
_FORMATTED |= {"log P model": "%.4f", "log P prefix": "%.4f", "Share": "percent", "Canonical share": "percent"}


def results(services: Services, run: RunRecord, run_rows: RunRows) -> int | None:
    """Show the matches; returns the number of the selected one."""
    if not run_rows.is_whole:
        return _first_matches(services, run, run_rows)
    query: Mapping[str, Any] = run.specification.get("query", {})
    kind = narrative.traversal_kind(run)
    names = run_rows.remember("groups", lambda: group_names(run_rows.rows))
    with _bar():
        view = choose_view(names, str(query.get("prefix", "")), prefer_groups=kind != ShortestPath.kind)
        logarithms = view.by != BY_GROUPS and _logarithms()
        st.space("stretch")
        if not run.is_live:
            other_traversal(run)
        _downloads(services, run, run_rows, view)
    lines = result_lines(run, run_rows, view)
    shown, drawn = st.columns([7, 4], gap="medium")
    with shown:
        selected = _paged_table(lines, run, view.by, logarithms=logarithms, selectable=view.by != BY_GROUPS)
        st.caption(_legend(run, view, lines))
    with drawn:
        result_charts(services, run, run_rows, view, lines)
    return selected


def _first_matches(services: Services, run: RunRecord, run_rows: RunRows) -> int | None:
    """The matches read so far, one by one, without shares and figures, which need all of them."""
    sampled = narrative.draws(run) is not None
    st.info(
        as_markdown(run_rows.cut_sentence())
        or f"{as_markdown(run_rows.reading_sentence())} Shares and figures appear when all are read.",
        icon=":material/info:" if run_rows.is_cut else ":material/hourglass_top:",
    )
    with _bar():
        logarithms = _logarithms()
        st.space("stretch")
        _downloads(services, run, run_rows, View(SEQUENCES))
    if run_rows.is_cut:
        lines = run_rows.remember("first matches", lambda: MatchLines(run_rows.rows, sampled=sampled, by_share=False))
    else:
        lines = MatchLines(run_rows.rows[:LINES], sampled=sampled, by_share=False)
    selected = _paged_table(lines, run, "first", logarithms=logarithms, selectable=True)
    st.caption("Select a line to see its tokens.")
    return selected


def _bar() -> DeltaGenerator:
    return st.container(horizontal=True, vertical_alignment="bottom", gap="small")


def _logarithms() -> bool:
    return st.toggle(
        "Logarithms",
        key="show_logarithms",
        persist_state="page",
        help="Show the scores as natural logarithms (nats) too.",
    )


def _downloads(services: Services, run: RunRecord, run_rows: RunRows, view: View) -> None:
    what = "All matches found so far, one line a token sequence, every score,"
    first = f"-first-{MOST_ROWS}" if run_rows.is_cut else ""
    if run_rows.is_cut:
        what = f"The first {MOST_ROWS:,} matches, one line a token sequence, every score,"
    if view.by == BY_GROUPS:
        what = "The shares of this table"
    for name, label, mime in _FORMATS:
        st.download_button(
            label,
            # Rows are fetched when the button is pressed: an open page keeps none.
            data=lambda name=name: _file(services, run, view, name),
            file_name=f"relens-{run_rows.run_id[:8]}{first}.{name}",
            mime=mime,
            on_click="ignore",
            key=f"download_{name}",
            icon=":material/download:",
            help=f"{what} as {label}.",
        )


def _file(services: Services, run: RunRecord, view: View, name: Format) -> bytes:
    if view.by == BY_GROUPS:
        rows = read_all_rows(services.store, run).rows
        return export_shares(by_group(rows, view.names, view.given, draws=narrative.draws(run)), name)
    return export_rows(stored_rows(services.store, run.id), name)


def _paged_table(lines: Lines, run: RunRecord, by: str, *, logarithms: bool, selectable: bool) -> int | None:
    """Show the table, a page at a time; returns the number of the selected match."""
    selected: list[int] = []

    def draw(start: int, stop: int) -> None:
        table = lines.frame(start, stop)
        key = f"matches_{run.id}_{by}" + (f"_{start}" if start else "")
        place = _table(table, run, logarithms=logarithms, selectable=selectable, key=key)
        if place is not None and place < len(table):
            selected.append(int(table["number"].iloc[place]))

    paged_lines(len(lines), draw, key=f"lines_{run.id}_{by}")
    return selected[0] if selected else None


def _table(table: pd.DataFrame, run: RunRecord, *, logarithms: bool, selectable: bool, key: str) -> int | None:
    columns = [name for name in table.columns if name not in HIDDEN and (logarithms or not name.startswith("log P"))]
    event: Any = st.dataframe(
        table[columns],
        key=key,
        # A fixed height while lines come in: the page below the table does not move.
        height="content" if len(table) <= _FEW_LINES and not run.is_live else 430,
        hide_index=True,
        column_order=columns,
        on_select="rerun" if selectable else "ignore",
        selection_mode="single-row",
        alt=f"Table of {counted(len(table), 'line')}",
        column_config={name: _column(name, table[name]) for name in columns},
    )
    rows = event.selection.rows if selectable and event else []
    return int(rows[0]) if rows else None


def _column(name: str, values: pd.Series) -> Any:
    help = COLUMN_HELP.get(name, "The text of this named group of the query; (none) where it took no part.")
    if values.dtype == bool:
        return st.column_config.CheckboxColumn(width=85, help=help)
    if pd.api.types.is_numeric_dtype(values):
        return st.column_config.NumberColumn(width=_WIDTHS.get(name, 90), format=_FORMATTED.get(name), help=help)
    return st.column_config.TextColumn(width=_WIDTHS.get(name, 130), help=help)


def _legend(run: RunRecord, view: View, lines: Lines) -> str:
    """The notes under the table."""
    parts = [] if view.by == BY_GROUPS else ["Select a line to see its tokens."]
    kind = narrative.traversal_kind(run)
    if kind == ShortestPath.kind and view.by == BY_GROUPS:
        parts.append("Shares among the matches found; a distribution has the shares of nearly all mass.")
    elif kind == ShortestPath.kind and isinstance(lines, StringLines) and lines.has_several_encodings:
        parts.append("Lines are in the order of their best encoding.")
    if run.is_live and narrative.draws(run) is not None:
        parts.append("Draws that end early come first: wait for the last before you read shares.")
    return " ".join(parts)
