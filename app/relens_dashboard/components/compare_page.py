"""Two or more runs side by side: their settings and their findings.

    /compare?runs=3f2a91...,77b0c4...      all are compared with the first

The address is the whole comparison: its receiver, with the same store, sees the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from relens.counted import counted
from relens.errors import QueryError, RelensError
from relens.runs.comparison import Setting, circumstances, settings_of
from relens.runs.listed_runs import ListedRun
from relens.runs.records import RunRecord
from relens.runs.specification import SearchSpecification, StudySpecification
from relens_dashboard.compare.tables import settings_table
from relens_dashboard.compare.words import circumstance_sentences, letter
from relens_dashboard.components.compare_searches import compare_searches
from relens_dashboard.components.compare_studies import compare_studies
from relens_dashboard.components.run_details import facts_html
from relens_dashboard.components.run_links import open_link, page_named
from relens_dashboard.components.status import status_line
from relens_dashboard.components.ticker import ticker
from relens_dashboard.links import CHOSEN
from relens_dashboard.messages import show_error, show_warning
from relens_dashboard.run_rows import READ_ON
from relens_dashboard.runs.described import title, variety_name
from relens_dashboard.runs.listed import ids_of
from relens_dashboard.runs.questions import titles as question_titles
from relens_dashboard.services import Services
from relens_dashboard.study_views import study_views
from relens_dashboard.text import as_markdown

MOST_COMPARED = 6
_OFFERED = 200
_LONGEST_TITLE = 60
_LOOK_EVERY = 3.0


def compare_page(services: Services) -> None:
    """Draw the page."""
    status_line(services)
    st.html(
        '<h1 class="relens-title study">Compare</h1><p class="relens-lead small">How the settings and the findings of '
        "two or more runs differ. All are compared with the first.</p>"
    )
    try:
        runs = _chosen(services)
        if len(runs) < 2:
            _empty()
            return
        _heads(runs)
        _questions(runs)
        kinds = {run.kind for run in runs}
        waits = False
        if kinds == {SearchSpecification.kind}:
            waits = compare_searches(services, runs)
        elif kinds == {StudySpecification.kind} and len({run.variety for run in runs}) == 1:
            waits = compare_studies(services, runs)
        else:
            varieties = ", ".join(f"{letter(place)} {variety_name(run)}" for place, run in enumerate(runs))
            show_warning(f"Runs of different kinds ({varieties}) are compared by their settings alone.")
        pace = READ_ON if waits else _LOOK_EVERY if any(run.is_live for run in runs) else None
        ticker(pace, key="compare_looking")
    except RelensError as error:
        show_error(error)
        ticker(_LOOK_EVERY, key="compare_looking")  # a busy store may answer then


def _chosen(services: Services) -> list[RunRecord]:
    """The runs of the address; the field at the top shows and changes them."""
    run_ids = ids_of(st.query_params.get(CHOSEN, ""), MOST_COMPARED)
    runs_by_id = {run_id: services.store.get(run_id) for run_id in run_ids}
    missing = [run_id for run_id, run in runs_by_id.items() if run is None]
    if missing:
        show_warning(f"Not in the store: {', '.join(missing)}.")
    here = {run_id: run for run_id, run in runs_by_id.items() if run is not None}
    listed = services.store.listed(limit=_OFFERED)
    titles = dict(zip([run.id for run in listed], question_titles(services.store, listed, _LONGEST_TITLE), strict=True))
    titles |= {run.id: title(run, _LONGEST_TITLE) for run in here.values()}
    offered: dict[str, RunRecord | ListedRun] = here | {run.id: run for run in listed}
    # Under a key of the address, so that another link fills the field with its own runs.
    chosen = st.multiselect(
        "Runs",
        list(offered),
        default=list(here),
        format_func=lambda run_id: f"{titles[run_id]} · {variety_name(offered[run_id])} · {run_id[:6]}",
        max_selections=MOST_COMPARED,
        key=f"compared_{'_'.join(here)}",
        placeholder="choose two or more",
        help=f"The runs to compare, at most {MOST_COMPARED}. The newest {_OFFERED} are listed here; tick older ones in "
        "the history. All are compared with the first run; remove it to compare with the next.",
    )
    if chosen != list(here):
        if chosen:
            st.query_params[CHOSEN] = ",".join(chosen)
        else:
            st.query_params.pop(CHOSEN, None)
        st.rerun()
    return list(here.values())


def _empty() -> None:
    st.info(
        "Choose two runs above, or tick them in the history: for example the same question about a man and about a "
        "woman, for two models, or with and without a decoding rule.",
        icon=":material/compare_arrows:",
    )
    page = page_named("history")
    if page is not None:
        st.page_link(page, label="Open the history", icon=":material/history:", help="Where all runs are listed.")


def _heads(runs: Sequence[RunRecord]) -> None:
    sentences = circumstance_sentences(runs, circumstances(runs))
    if sentences:
        st.warning(as_markdown(" ".join(sentences)), icon=":material/warning:")
    for column, (place, run) in zip(st.columns(len(runs), gap="small", border=True), enumerate(runs), strict=True):
        with column:
            st.html(f'<span class="relens-letter">{letter(place)}</span>{facts_html(run)}')
            open_link(run)


def _questions(runs: Sequence[RunRecord]) -> None:
    settings = settings_of([_shown_specification(run) for run in runs])
    differing = [setting for setting in settings if setting.differs]
    alike = [setting for setting in settings if not setting.differs]
    st.header("Settings", anchor=False)
    if differing:
        _settings(differing, len(runs), "differing")
    else:
        st.html("<p>All settings are the same, seed included.</p>")
    if alike:
        with st.expander(f"{counted(len(alike), 'setting is', 'settings are')} the same"):
            _settings(alike, len(runs), "alike")


def _settings(settings: Sequence[Setting], runs: int, key: str) -> None:
    table = settings_table(settings, runs)
    st.dataframe(
        table,
        hide_index=True,
        key=f"settings_{key}",
        height="content" if len(table) <= 14 else 460,
        alt=f"Table of {counted(len(table), 'setting')}, {key}: {', '.join(list(table['Setting'])[:5])}",
    )


def _shown_specification(run: RunRecord) -> dict[str, object]:
    """The specification, masked as on the study's own page."""
    view = study_views().get(run.variety) if run.kind == StudySpecification.kind else None
    if view is None:
        return run.specification
    try:
        mask = view.mask(StudySpecification.from_json(run.specification).study)
    except QueryError:
        return run.specification
    return run.specification if mask is None else next(mask.rows([run.specification]))
