"""Searches side by side: their shares of probability, and their strings."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

import pandas as pd
import streamlit as st

from relens.counted import counted
from relens.query import Sampling, ShortestPath
from relens.runs.agreement import comparable, overlap, side_by_side
from relens.runs.records import RunRecord
from relens.runs.share_tests import differences_of_shares, shares_of_run
from relens.traversal.summaries import group_names
from relens_dashboard import charts, narrative
from relens_dashboard.charts import Chart
from relens_dashboard.compare.charts import overlaid_shares, scatter
from relens_dashboard.compare.tables import COLUMN_HELP, shares_table, strings_table, wide_shares
from relens_dashboard.compare.words import letter, overlap_sentence, share_sentences
from relens_dashboard.components.compared_rows import compared_rows
from relens_dashboard.components.pager import paged_lines
from relens_dashboard.components.pin_button import pin_button
from relens_dashboard.glossary import column_help
from relens_dashboard.present.pinned import page_finding
from relens_dashboard.run_rows import RunRows
from relens_dashboard.services import Services
from relens_dashboard.text import as_html

Rows = Sequence[Mapping[str, Any]]
Made = TypeVar("Made")

_STRINGS = "Strings"


def compare_searches(services: Services, runs: Sequence[RunRecord]) -> bool:
    """Show them; returns whether there is more to read."""
    run_rows, waits = compared_rows(services, runs)
    if not run_rows:
        return waits
    if not all(one.rows for one in run_rows):
        empty = [letter(place) for place, one in enumerate(run_rows) if not one.rows]
        st.info(f"Nothing was found (yet) by {', '.join(empty)}.", icon=":material/info:")
    if not any(one.rows for one in run_rows):
        return False
    compared = _Compared(runs, run_rows)
    if any(kind != ShortestPath.kind for kind in compared.kinds):
        _shares(services, compared)
    _strings(compared)
    return False


class _Compared:
    """The runs, and the results made of their rows together, remembered with the rows of the first run."""

    def __init__(self, runs: Sequence[RunRecord], run_rows: Sequence[RunRows]) -> None:
        self.runs = runs
        self.kinds = [narrative.traversal_kind(run) for run in runs]
        self._run_rows = run_rows
        self._key = tuple((one.run_id, len(one.rows)) for one in run_rows)

    def remember(self, what: Hashable, make: Callable[[], Made]) -> Made:
        """As `RunRows.remember`."""
        return self._run_rows[0].remember(("compared", self._key, what), make)

    @property
    def rows(self) -> list[Rows]:
        """The rows of each run, in a form in which strings of different runs can be equal."""
        return self.remember("rows", lambda: comparable([one.rows for one in self._run_rows]))


def _shares(services: Services, compared: _Compared) -> None:
    runs = compared.runs
    st.header("How probability is shared", anchor=False)
    names = _outcomes(compared.remember("groups", lambda: _common_groups(compared.rows)))
    sentences, table = compared.remember(("shares", tuple(names)), lambda: _compare_shares(compared, names))
    st.html(_paragraphs(sentences, "data-compared"))
    chart = compared.remember(("overlaid", tuple(names)), lambda: overlaid_shares(table))
    _chart(chart, "overlaid")
    pin_button(
        services,
        lambda: page_finding(
            "Compared: how probability is shared",
            sentences or [chart.alt],
            chart.figure,
            chart.alt,
            page="compare",
            question=f"how do the answers to {counted(len(runs), 'run')} differ?",
            model=", ".join(dict.fromkeys(run.model for run in runs)),
            look_at=chart.alt,
            not_shown="Why they differ. The figure shows only that they do, for these patterns.",
        ),
        key="pin_overlaid",
    )
    wide = compared.remember(("wide", tuple(names)), lambda: wide_shares(table, names))
    with st.expander(f"All {counted(len(wide), 'share')}"):
        _table(len(wide), lambda start, stop: wide.iloc[start:stop], "shares", "shares by run")


def _common_groups(rows: Sequence[Rows]) -> list[str]:
    others = [group_names(other) for other in rows[1:]]
    return [name for name in group_names(rows[0]) if all(name in names for names in others)]


def _compare_shares(compared: _Compared, names: Sequence[str]) -> tuple[list[str], pd.DataFrame]:
    """How the runs differ from the first, in sentences, and the table of shares."""
    runs, rows, kinds = compared.runs, compared.rows, compared.kinds
    drawn = [place for place, kind in enumerate(kinds) if kind != ShortestPath.kind]
    shares = [shares_of_run(kind, of_run, names) for kind, of_run in zip(kinds, rows, strict=True)]
    differences = differences_of_shares(shares)
    tested = sum(one.test is not None for one in differences)
    sentences: list[str] = []
    for one in differences:
        sentences += share_sentences(one, shares, same_seed=_same_seed(runs[0], runs[one.place]), tested=tested)
    draws = [narrative.draws(runs[place]) for place in drawn]
    table = shares_table([rows[place] for place in drawn], draws, names)
    table["Run"] = [letter(drawn[ord(run) - ord("A")]) for run in table["Run"]]
    return sentences, table


def _outcomes(common: Sequence[str]) -> list[str]:
    """The groups that shares are counted by: the reader's choice among those that all runs have."""
    if not common:
        return []
    chosen = st.pills(
        "Compared by",
        [*common, _STRINGS],
        selection_mode="single",
        default=common[-1],
        required=True,
        key="by",
        bind="query-params",
        help="Shares are of the values of one named group of the queries, or of whole strings.",
    )
    return [] if chosen == _STRINGS or chosen not in common else [str(chosen)]


def _strings(compared: _Compared) -> None:
    st.header("Strings", anchor=False)
    rows, kinds = compared.rows, compared.kinds
    strings = compared.remember("strings", lambda: side_by_side(rows, [kind != ShortestPath.kind for kind in kinds]))
    places = range(1, len(rows))
    overlaps = compared.remember("overlaps", lambda: {place: overlap(strings, 0, place) for place in places})
    st.html(_paragraphs([overlap_sentence(overlaps[place], 0, place) for place in places], "data-overlap"))
    for place in places:
        if overlaps[place].shared:
            chart = compared.remember(("scatter", place), lambda place=place: scatter(strings, 0, place))
            _chart(chart, f"scatter_{place}")
    _table(
        len(strings),
        lambda start, stop: strings_table(strings, len(rows), start, stop),
        "strings",
        "strings by run",
    )


def _same_seed(first: RunRecord, second: RunRecord) -> bool:
    seeds = [
        (run.specification["traversal"].get("seed", Sampling.seed), run.model)
        for run in (first, second)
        if narrative.traversal_kind(run) == Sampling.kind
    ]
    return len(seeds) == 2 and seeds[0] == seeds[1]


def _chart(chart: Chart, key: str) -> None:
    st.plotly_chart(chart.figure, key=f"compare_{key}", config=charts.CONFIG, alt=chart.alt)


def _table(count: int, lines: Callable[[int, int], pd.DataFrame], key: str, what: str) -> None:
    def column(name: str) -> Any:
        kind = name.split(" ")[0]
        if kind in ("Probability", "Model", "Share"):
            return st.column_config.NumberColumn(format="%.3g", help=COLUMN_HELP.get(kind))
        if kind == "Rank":
            return st.column_config.NumberColumn(format="localized", help=COLUMN_HELP["Rank"])
        return st.column_config.TextColumn(help=column_help(name))

    def draw(start: int, stop: int) -> None:
        table = lines(start, stop)
        st.dataframe(
            table,
            hide_index=True,
            key=f"compare_table_{key}_{start}",
            placeholder="–",
            height="content" if len(table) <= 12 else 430,
            alt=f"Table of {counted(len(table), 'line')}: {what}",
            column_config={name: column(str(name)) for name in table.columns},
        )

    paged_lines(count, draw, key=f"compare_lines_{key}")


def _paragraphs(sentences: Sequence[str], mark: str) -> str:
    inner = "".join(f"<p>{as_html(sentence)}</p>" for sentence in sentences)
    return f'<div class="relens-findings study" {mark}="{len(sentences)}">{inner}</div>'
