"""The matches as they arrive: table, charts, files."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from app import charts
from app.run_rows import RunRows
from app.tables import COLUMN_HELP, matches_table
from engine.runs.export import Format, export_rows

#: Above this many lines the browser fetches what it shows, and is not sent the whole table at every look.
_LAZY_ABOVE = 1_000

_FORMATS: tuple[tuple[Format, str, str], ...] = (
    ("csv", "CSV", "text/csv"),
    ("json", "JSON", "application/json"),
    ("parquet", "Parquet", "application/vnd.apache.parquet"),
)


def results(found: RunRows) -> int | None:
    """Show the matches; returns the number of the match that is selected."""
    bar = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with bar:
        merged = st.toggle(
            "Merge encodings",
            key="merge_encodings",
            value=True,
            help="One line for each string, the probabilities of its token sequences added up. "
            "Off: one line for each token sequence, in exact order of rank.",
        )
        scores = st.toggle(
            "Logarithms", key="show_logarithms", help="Show the scores as natural logarithms (nats) too."
        )
        st.space("stretch")
        for name, label, mime in _FORMATS:
            st.download_button(
                label,
                data=lambda name=name: export_rows(found.rows, name),
                file_name=f"relens-{found.run_id[:8]}.{name}",
                mime=mime,
                on_click="ignore",
                key=f"download_{name}",
                icon=":material/download:",
                help=f"All matches found so far, one line a token sequence, every score, as {label}.",
            )
    table = matches_table(found.rows, merged=merged)
    shown, drawn = st.columns([7, 4], gap="medium")
    with shown:
        selected = _table(table, merged=merged, scores=scores, key=f"matches_{found.run_id}_{merged}")
    with drawn:
        _charts(found, table)
    if selected is None or selected >= len(table):
        return None
    return int(table["number"].iloc[selected])


def _table(table: pd.DataFrame, *, merged: bool, scores: bool, key: str) -> int | None:
    columns = [name for name in table.columns if name != "number" and (scores or not name.startswith("log P"))]
    event: Any = st.dataframe(
        table,
        key=key,
        height=430,
        hide_index=True,
        column_order=columns,
        on_select="rerun",
        selection_mode="single-row",
        lazy=True if len(table) > _LAZY_ABOVE else None,
        alt=f"Table of {len(table)} matches",
        column_config={
            "#": st.column_config.NumberColumn(width=50, help=COLUMN_HELP["#"]),
            "Text": st.column_config.TextColumn(width=300, help=COLUMN_HELP["Text"]),
            "Prefix": st.column_config.TextColumn(width="medium", help=COLUMN_HELP["Prefix"]),
            "Probability": st.column_config.NumberColumn(format="%.3g", width=100, help=COLUMN_HELP["Probability"]),
            "Model": st.column_config.NumberColumn(format="%.3g", width=90, help=COLUMN_HELP["Model"]),
            "Encodings": st.column_config.NumberColumn(width=90, help=COLUMN_HELP["Encodings"]),
            "Canonical": st.column_config.CheckboxColumn(width=85, help=COLUMN_HELP["Canonical"]),
            "Tokens": st.column_config.NumberColumn(width=70, help=COLUMN_HELP["Tokens"]),
            **{
                name: st.column_config.NumberColumn(format="%.4f", width=110, help=COLUMN_HELP[name])
                for name in ("log P decoder", "log P model", "log P prefix")
            },
        },
    )
    st.caption(
        "Select a line to see its tokens."
        + (" Lines are in the order of their best encoding." if merged and (table["Encodings"] > 1).any() else "")
    )
    rows = event.selection.rows if event else []
    return int(rows[0]) if rows else None


def _charts(found: RunRows, table: pd.DataFrame) -> None:
    # Only the chart that is looked at is drawn: this runs at every look.
    best, bounds, pace = st.tabs(["Likeliest", "Bounds", "Pace"], key="result_charts", on_change="rerun")
    if best.open:
        with best:
            _chart(charts.probability_bars(table), "chart_best")
    if bounds.open:
        with bounds:
            if len(found.history) > 1:
                _chart(charts.mass_over_time(found.history), "chart_bounds")
            else:
                st.caption("The bounds over time are drawn while you watch a run.")
    if pace.open:
        with pace:
            _chart(charts.matches_over_time(found.rows), "chart_pace")


def _chart(chart: charts.Chart, key: str) -> None:
    st.plotly_chart(chart.figure, key=key, config=charts.CONFIG, alt=chart.alt)
