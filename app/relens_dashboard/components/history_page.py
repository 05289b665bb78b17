"""The history: all runs of the store, and actions on the chosen ones.

Filters and chosen runs are in the address of the page, so a link shows what its sender saw. Chosen runs stay chosen
when the search or the page of the list changes, so that distant runs can be compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import streamlit as st

from relens import settings
from relens.counted import counted
from relens.errors import RelensError
from relens.runs.listed_runs import ListedRun
from relens.runs.records import RunRecord
from relens_dashboard.components.gallery_cards import gallery_cards
from relens_dashboard.components.import_run import import_run
from relens_dashboard.components.run_details import bin_of_run, run_details, runs_chosen, undo_banner
from relens_dashboard.components.status import status_line
from relens_dashboard.components.ticker import ticker
from relens_dashboard.gallery import load_gallery
from relens_dashboard.links import CHOSEN
from relens_dashboard.messages import show_error
from relens_dashboard.runs.described import STATUSES, variety_names
from relens_dashboard.runs.listed import COLUMN_HELP, Filters, ids_of, pages, runs_table
from relens_dashboard.runs.questions import titles as question_titles
from relens_dashboard.services import Services
from relens_dashboard.text import as_markdown

MOST_CHOSEN = 6

#: In the session: the chosen runs last written into the address, and how often the list began anew.
_ADDRESS, _TIMES = "history_address", "history_times"

_A_PAGE = 25
_LOOK_EVERY = 2.0
#: Others add runs, so the list is drawn anew also without a live run.
_LOOK_ANYWAY = 4.0
_EXAMPLES = 3


def history_page(services: Services) -> None:
    """Draw the page."""
    status_line(services)
    st.html(
        '<h1 class="relens-title study">History</h1><p class="relens-lead small">Every search and study that was run '
        "here. Tick one to name, pin, repeat or delete it; tick several to compare them.</p>"
    )
    with st.container():
        st.fragment(_history, key="history")(services)


def _history(services: Services) -> None:
    try:
        # In a container of its own: if it moved the fields below, the browser would not write them into the address.
        with st.container():
            undo_banner(services)
        filters = _filters(services)
        total = services.store.count(**filters.store_arguments())
        if not total and filters.is_empty:
            _empty()
            return
        ticked, runs = _page(services, filters, total)
        chosen: list[RunRecord] = []
        if filters.deleted:
            bin_of_run(services, ticked, total)
        else:
            chosen = _chosen(services, ticked, runs)
        if len(chosen) == 1:
            run_details(services, chosen[0])
        elif chosen:
            runs_chosen(services, chosen, choose)
        live = any(run.is_live for run in [*runs, *chosen])
    except RelensError as error:
        show_error(error)
        live = True
    ticker(_LOOK_EVERY if live else _LOOK_ANYWAY, key="history_looking")


def _filters(services: Services) -> Filters:
    names = variety_names()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        text = st.text_input(
            "Search",
            key="find",
            bind="query-params",
            live="250ms",
            type="search",
            max_chars=400,
            placeholder="words of a name, a note, a model or a question",
            icon=":material/search:",
            width=340,
            help="Shows the runs with all these words in their name, note, model or question.",
        )
        with st.popover("Filters", icon=":material/filter_list:", key="history_filters"):
            kinds, statuses, models, pinned, deleted = _choices(services, list(names.values()))
        st.space("stretch")
        import_run(services, choose)
    filters = Filters(
        text=text or "",
        varieties=tuple(kind for kind, name in names.items() if name in kinds),
        statuses=tuple(status for status, name in STATUSES.items() if name in statuses),
        models=tuple(models),
        pinned=pinned,
        deleted=deleted,
    )
    labels = [*kinds, *statuses, *models, *(["pinned"] if pinned else []), *(["deleted"] if deleted else [])]
    if labels:
        st.caption(as_markdown(f"Only: {', '.join(labels)}"))
    return filters


def _choices(services: Services, kinds: list[str]) -> tuple[list[str], list[str], list[str], bool, bool]:
    """The chosen filters: kinds, statuses, models; only pinned runs; deleted runs instead of the others."""
    return (
        st.multiselect(
            "Kind",
            kinds,
            key="kind",
            bind="query-params",
            placeholder="any",
            help="Shows only searches or studies of these kinds.",
        ),
        st.multiselect(
            "Status",
            list(STATUSES.values()),
            key="ended",
            bind="query-params",
            placeholder="any",
            help="Shows only runs with this status.",
        ),
        st.multiselect(
            "Model",
            services.store.models(),
            key="of_model",
            bind="query-params",
            placeholder="any",
            help="Shows only runs of these models.",
        ),
        st.toggle("Pinned", key="pinned", bind="query-params", help="Shows only pinned runs."),
        st.toggle(
            "Deleted",
            key="deleted",
            bind="query-params",
            help=f"Shows the deleted runs; they can be restored for {_days()}.",
        ),
    )


def _days() -> str:
    return counted(round(settings.keep_deleted_seconds() / 86_400), "day")


def _page(services: Services, filters: Filters, total: int) -> tuple[list[ListedRun], list[ListedRun]]:
    """Draw the list; returns its ticked runs, and all of its runs."""
    if not total:
        st.caption("No run fits. Remove a word or a filter.")
        return [], []
    number = pages(total, _A_PAGE)
    below = st.container()
    with below:
        where = st.container()
        left, right = st.columns([3, 2], vertical_alignment="center")
    with right:
        page = st.pagination(number, key="sheet", bind="query-params") if number > 1 else 1
    page = min(max(int(page), 1), number)
    runs = services.store.listed(**filters.store_arguments(), limit=_A_PAGE, offset=(page - 1) * _A_PAGE)
    with left:
        shown = f"{(page - 1) * _A_PAGE + 1:,}–{(page - 1) * _A_PAGE + len(runs):,} of " if number > 1 else ""
        st.caption(f"{shown}{counted(total, 'run')}")
    if st.query_params.get(CHOSEN, "") != st.session_state.get(_ADDRESS):
        _begin_anew()  # somebody came by another link
    chosen = ids_of(st.query_params.get(CHOSEN, ""), MOST_CHOSEN)
    table = runs_table(runs, question_titles(services.store, runs))
    # Ticks are places in the list: a new list begins with the runs in the address.
    key = hashlib.sha256(repr([run.id for run in runs]).encode()).hexdigest()[:12]
    with where:
        event: Any = st.dataframe(
            table,
            key=f"history_{key}_{st.session_state[_TIMES]}",
            on_select="rerun",
            selection_mode="multi-row",
            selection_default={
                "selection": {"rows": [place for place, run in enumerate(runs) if run.id in chosen], "columns": []}
            },
            hide_index=True,
            height="content" if len(runs) <= 12 else 460,
            alt=f"Table of {counted(len(runs), 'run')}: {', '.join(list(table['Run'])[:3])}",
            column_config={
                "★": st.column_config.TextColumn(width=36, help=COLUMN_HELP["★"]),
                "Run": st.column_config.TextColumn(width="large", help=COLUMN_HELP["Run"]),
                "Kind": st.column_config.TextColumn(help=COLUMN_HELP["Kind"]),
                "Status": st.column_config.TextColumn(help=COLUMN_HELP["Status"]),
                "Created": st.column_config.DatetimeColumn(
                    format="YYYY-MM-DD HH:mm", timezone=st.context.timezone, help=COLUMN_HELP["Created"]
                ),
                "Rows": st.column_config.NumberColumn(format="localized", help=COLUMN_HELP["Rows"]),
                "Time": st.column_config.TextColumn(help=COLUMN_HELP["Time"]),
            },
        )
    return [runs[place] for place in event["selection"]["rows"] if place < len(runs)], runs


def _chosen(services: Services, ticked: Sequence[ListedRun], runs: Sequence[ListedRun]) -> list[RunRecord]:
    """The runs ticked here and those chosen on other pages of the list; kept in the address."""
    listed = {run.id for run in runs}
    in_address = ids_of(st.query_params.get(CHOSEN, ""), MOST_CHOSEN)
    run_ids = [*(run_id for run_id in in_address if run_id not in listed), *(run.id for run in ticked)]
    runs_by_id = {run.id: run for run in map(services.store.get, run_ids) if run is not None}
    # In the order of choice: a comparison is with the first.
    order = [run_id for run_id in in_address if run_id in runs_by_id] + [
        run_id for run_id in runs_by_id if run_id not in in_address
    ]
    order = order[:MOST_CHOSEN]
    _keep_address(order)
    if len(runs_by_id) > MOST_CHOSEN:
        st.caption(f"At most {MOST_CHOSEN} runs can be chosen; the first {MOST_CHOSEN} are.")
    return [runs_by_id[run_id] for run_id in order]


def choose(*run_ids: str) -> None:
    """Choose these runs and no others, and draw the list anew."""
    _begin_anew()
    _keep_address(run_ids)


def _begin_anew() -> None:
    """Let the next drawing of the list begin with the ticks of the address."""
    st.session_state[_TIMES] = st.session_state.get(_TIMES, 0) + 1


def _keep_address(run_ids: Sequence[str]) -> None:
    address = st.session_state[_ADDRESS] = ",".join(run_ids)
    if not address:
        st.query_params.pop(CHOSEN, None)
    elif st.query_params.get(CHOSEN) != address:
        st.query_params[CHOSEN] = address


def _empty() -> None:
    st.info(
        "No run yet. Open an example and press Run: the run is listed here and stays here. An exported run can be "
        "imported above.",
        icon=":material/history:",
    )
    gallery_cards(load_gallery()[:_EXAMPLES])
