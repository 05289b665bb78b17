"""Searches side by side: their strings, and how they share probability among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app import charts, narrative
from app.charts import Chart
from app.compare.charts import overlaid_shares, scatter
from app.compare.tables import COLUMN_HELP, shares_table, strings_table, wide_shares
from app.compare.words import letter, overlap_sentence, share_sentences
from app.components.pin_button import pin_button
from app.glossary import told
from app.present.pinned import page_finding
from app.services import Services
from app.text import as_html
from engine.counted import counted
from engine.query import Sampling, ShortestPath
from engine.runs.agreement import comparable, overlap, side_by_side
from engine.runs.records import RunRecord
from engine.runs.share_tests import differences_of_shares, shares_of_run
from engine.traversal.summaries import group_names

Rows = Sequence[Mapping[str, Any]]

#: Of each run so many rows are read: a comparison is looked at, and a browser waits for it.
MOST_ROWS = 20_000
_STRINGS = "Strings"


def compare_searches(services: Services, runs: Sequence[RunRecord]) -> None:
    """Show them."""
    found = [services.store.rows(run.id, limit=MOST_ROWS) for run in runs]
    cut = [place for place, run in enumerate(runs) if run.row_count > MOST_ROWS]
    if not all(found):
        empty = [letter(place) for place, rows in enumerate(found) if not rows]
        st.info(f"Nothing was found (yet) by {', '.join(empty)}.", icon=":material/info:")
    if cut:
        st.caption(f"Of {', '.join(map(letter, cut))} the first {MOST_ROWS:,} rows are compared.")
    if not any(found):
        return
    rows = comparable(found)
    kinds = [narrative.traversal_kind(run) for run in runs]
    if any(kind != ShortestPath.kind for kind in kinds):
        _shares(services, runs, rows, kinds)
    _strings(rows, kinds)


def _shares(services: Services, runs: Sequence[RunRecord], rows: Sequence[Rows], kinds: Sequence[str]) -> None:
    st.header("How probability is shared", anchor=False)
    common = [name for name in group_names(rows[0]) if all(name in group_names(other) for other in rows[1:])]
    names = _outcomes(common)
    drawn = [place for place, kind in enumerate(kinds) if kind != ShortestPath.kind]
    shares = [shares_of_run(kind, of_run, names) for kind, of_run in zip(kinds, rows, strict=True)]
    differences = differences_of_shares(shares)
    tested = sum(one.test is not None for one in differences)
    sentences = []
    for one in differences:
        sentences += share_sentences(one, shares, same_seed=_same_seed(runs[0], runs[one.place]), tested=tested)
    st.html(_paragraphs(sentences, "data-compared"))
    draws = [narrative.draws(runs[place]) for place in drawn]
    table = shares_table([rows[place] for place in drawn], draws, names)
    table["Run"] = [letter(drawn[ord(run) - ord("A")]) for run in table["Run"]]
    chart = overlaid_shares(table)
    _chart(chart, "overlaid")
    pin_button(
        services,
        lambda: page_finding(
            "Compared: how probability is shared",
            sentences or [chart.alt],
            chart.figure,
            chart.alt,
            page="compare",
            asked=f"how do the answers to {counted(len(runs), 'run')} differ?",
            model=", ".join(dict.fromkeys(run.model for run in runs)),
            look_at=chart.alt,
            not_shown="Why they differ: only that they do, for the patterns that were asked.",
        ),
        key="pin_overlaid",
    )
    with st.expander(f"All {counted(table['Outcome'].nunique(), 'share')}"):
        _table(wide_shares(table, names), "shares", "shares by run")


def _outcomes(common: Sequence[str]) -> list[str]:
    """What shares are counted by: a reader's choice among the groups that all runs have."""
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
        help="What is counted: the values of one named group of the queries, or whole strings.",
    )
    return [] if chosen == _STRINGS or chosen not in common else [str(chosen)]


def _strings(rows: Sequence[Rows], kinds: Sequence[str]) -> None:
    st.header("Strings", anchor=False)
    strings = side_by_side(rows, [kind != ShortestPath.kind for kind in kinds])
    places = range(1, len(rows))
    st.html(_paragraphs([overlap_sentence(overlap(strings, 0, place), 0, place) for place in places], "data-overlap"))
    for place in places:
        if overlap(strings, 0, place).shared:
            _chart(scatter(strings, 0, place), f"scatter_{place}")
    _table(strings_table(strings, len(rows)), "strings", "strings by run")


def _same_seed(first: RunRecord, second: RunRecord) -> bool:
    seeds = [
        (run.specification["traversal"].get("seed", Sampling.seed), run.model)
        for run in (first, second)
        if narrative.traversal_kind(run) == Sampling.kind
    ]
    return len(seeds) == 2 and seeds[0] == seeds[1]


def _chart(chart: Chart, key: str) -> None:
    st.plotly_chart(chart.figure, key=f"compare_{key}", config=charts.CONFIG, alt=chart.alt)


def _table(table: Any, key: str, what: str) -> None:
    def column(name: str) -> Any:
        kind = name.split(" ")[0]
        if kind in ("Probability", "Model", "Share"):
            return st.column_config.NumberColumn(format="%.3g", help=COLUMN_HELP.get(kind))
        if kind == "Rank":
            return st.column_config.NumberColumn(format="localized", help=COLUMN_HELP["Rank"])
        return st.column_config.TextColumn(help=told(name))

    st.dataframe(
        table,
        hide_index=True,
        key=f"compare_table_{key}",
        placeholder="–",
        height="content" if len(table) <= 12 else 430,
        lazy=True if len(table) > 1_000 else None,
        alt=f"Table of {counted(len(table), 'line')}: {what}",
        column_config={name: column(str(name)) for name in table.columns},
    )


def _paragraphs(sentences: Sequence[str], mark: str) -> str:
    inner = "".join(f"<p>{as_html(sentence)}</p>" for sentence in sentences)
    return f'<div class="relens-findings study" {mark}="{len(sentences)}">{inner}</div>'
