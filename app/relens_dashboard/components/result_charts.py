"""The charts of the results. Only the chart in the open tab is drawn, since this runs at every look."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from relens.query import Encoding, ShortestPath
from relens.runs.records import RunRecord
from relens_dashboard import charts, narrative, search_charts, share_charts
from relens_dashboard.components.conclusions import conclusion_sentences
from relens_dashboard.components.pager import LINES
from relens_dashboard.components.pin_button import pin_button
from relens_dashboard.components.result_lines import groups_of_view
from relens_dashboard.components.result_view import BY_GROUPS, SEQUENCES, STRINGS, View
from relens_dashboard.components.run_panel import mass_text
from relens_dashboard.present.finding import Finding
from relens_dashboard.present.pinned import best_sentence, search_finding
from relens_dashboard.run_rows import RunRows
from relens_dashboard.sample_check import compare
from relens_dashboard.services import Services
from relens_dashboard.tables import (
    Lines,
    StringLines,
    distinct_labels,
    group_column,
    group_key,
    shown_value,
    string_key,
)
from relens_dashboard.text import as_markdown

#: The charts of the likeliest, by the traversal that has them.
_BEST = ("Likeliest", "Probability")
#: Offers to pin a chart, under its name on the page.
_Pin = Callable[[str, charts.Chart], None]


def result_charts(services: Services, run: RunRecord, run_rows: RunRows, view: View, lines: Lines) -> None:
    """Show the charts that fit this run, each with its pin button. lines: of the table next to them."""

    def pin(name: str, chart: charts.Chart) -> None:
        def finding() -> Finding:
            best = ""
            if name in _BEST:
                table = lines.frame()
                best = best_sentence(distinct_labels(table), list(table["Probability"]))
            sentences, basis = conclusion_sentences(run, run_rows)
            return search_finding(run, name, chart, sentences, basis, mass_text(run, run_rows.rows), best)

        pin_button(services, finding, key=f"pin_{_key(name)}")

    def show(name: str, make: Callable[[], charts.Chart]) -> None:
        _chart(run_rows.remember(("chart", name, view), make), name, pin)

    def head() -> pd.DataFrame:
        return run_rows.remember(("head", view), lambda: lines.frame(0, LINES))

    kind, draws = narrative.traversal_kind(run), narrative.draws(run)
    offered: dict[str, Callable[[str], None]] = {}
    if view.by == BY_GROUPS:
        columns = [group_column(group) for group in view.values], [group_column(group) for group in view.given]
        offered["Shares"] = lambda name: show(
            name, lambda: share_charts.share_bars(groups_of_view(run, run_rows, view), *columns)
        )
    elif "Share" in head():
        offered["Shares"] = lambda name: show(name, lambda: share_charts.share_bars(head()))
    else:
        offered["Likeliest" if kind == ShortestPath.kind else "Probability"] = lambda name: show(
            name, lambda: search_charts.probability_bars(head())
        )
    if draws is not None:
        offered["Against exact"] = lambda name: _against_exact(run, run_rows, view, lines, draws, name, pin)
    if run_rows.remember("edited", lambda: any(row.get("unedited") is not None for row in run_rows.rows)):
        offered["Edits"] = lambda name: show(name, lambda: share_charts.edit_positions(run_rows.rows))
    if run.specification.get("query", {}).get("encoding", Encoding.ALL) == Encoding.ALL:
        offered["Spelling"] = lambda name: show(
            name, lambda: share_charts.spelling_bars(_strings(run_rows, draws) if view.by != STRINGS else head())
        )
    if draws is None:
        offered["Bounds"] = lambda name: _bounds(run_rows, name, pin)
        offered["Pace"] = lambda name: show(name, lambda: search_charts.matches_over_time(run_rows.rows))
    tabs = st.tabs(list(offered), key=f"result_charts_{kind}_{len(offered)}", on_change="rerun")
    for tab, (name, draw) in zip(tabs, offered.items(), strict=True):
        if tab.open:
            with tab:
                draw(name)


def _against_exact(
    run: RunRecord, run_rows: RunRows, view: View, lines: Lines, draws: int, name: str, pin: _Pin
) -> None:
    if view.by == SEQUENCES:
        st.caption("Look at the results by strings or by groups to compare their shares.")
        return
    chart, reason = run_rows.remember(
        ("chart", name, view, draws), lambda: _compared_with_exact(run, run_rows, view, lines, draws)
    )
    _chart(chart, name, pin)
    if reason:
        st.caption(as_markdown(reason))


def _compared_with_exact(
    run: RunRecord, run_rows: RunRows, view: View, lines: Lines, draws: int
) -> tuple[charts.Chart, str]:
    prefix_by = str(run.specification.get("traversal", {}).get("prefix_by", "strings"))
    if view.by == BY_GROUPS:
        table = groups_of_view(run, run_rows, view)
        order = [*view.given, *view.values]
        labels = [" · ".join(map(shown_value, key)) for key in table["key"]]
        compared, reason = compare(
            run_rows.rows,
            table,
            labels,
            lambda row: group_key(row, order),
            given=len(view.given),
            draws=draws,
            prefix_by=prefix_by,
        )
    else:
        table = lines.frame(0, LINES)
        compared, reason = compare(
            run_rows.rows, table, distinct_labels(table), string_key, draws=draws, prefix_by=prefix_by
        )
    return share_charts.sample_against_exact(compared), reason


def _strings(run_rows: RunRows, draws: int | None) -> pd.DataFrame:
    """The first strings in the order of their best encodings."""
    return StringLines(run_rows.rows, draws=draws).frame(0, LINES)


def _bounds(run_rows: RunRows, name: str, pin: _Pin) -> None:
    if len(run_rows.history) > 1:
        _chart(search_charts.mass_over_time(run_rows.history), name, pin)
    else:
        st.caption("The bounds over time are drawn while you watch a run.")


def _chart(chart: charts.Chart, name: str, pin: _Pin) -> None:
    st.plotly_chart(chart.figure, key=f"chart_{_key(name)}", config=charts.CONFIG, alt=chart.alt)
    pin(name, chart)


def _key(name: str) -> str:
    return name.split()[-1].lower()
