"""The run on the page: its progress, its results, and one of its matches opened.

A fragment that looks again by itself while something is pending. When the run ends it draws the whole page once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from relens.errors import RelensError
from relens.query import Distribution, Sampling, ShortestPath
from relens.runs.records import RunRecord
from relens.runs.specification import SearchSpecification
from relens_dashboard import narrative
from relens_dashboard.components.conclusions import conclusions
from relens_dashboard.components.match_detail import inspection, match_detail
from relens_dashboard.components.results import results
from relens_dashboard.components.run_buttons import begin_run
from relens_dashboard.components.run_panel import device_line, mass, run_status
from relens_dashboard.components.ticker import ticker
from relens_dashboard.messages import show_error, show_warning
from relens_dashboard.run_rows import READ_ON, RunRows, read_rows
from relens_dashboard.services import Services
from relens_dashboard.session import session_name

#: Seconds between two looks: often at first, more rarely for a long or large run, because a look takes time from the
#: model.
_EAGER, _CALM, _RARE = 0.4, 1.0, 2.0
_EAGER_FOR_SECONDS = 6.0
_MANY_ROWS = 2_000


#: The caption before the first match.
_WAITING = {
    ShortestPath.kind: "No match yet. The first one appears as soon as nothing can beat it.",
    Sampling.kind: "No draw has ended yet. All of them are drawn together, and each appears when its string ends.",
    Distribution.kind: "No match yet. The likeliest come first, until almost no mass is unexplored.",
}


def run_view(services: Services, shown: RunRecord | None) -> None:
    """Show the run, or a caption in its place."""
    if shown is None:
        st.caption("Press Run: the matches appear here as the model finds them.")
        return
    st.fragment(_run_view, key="run_view")(services, shown.id, shown.is_live)


def _pace(services: Services, run: RunRecord, run_rows: RunRows) -> float | None:
    """Seconds until the next look, None where nothing more will come."""
    if not run_rows.is_read:
        return READ_ON
    if _open_inspection(services) is not None:
        return _EAGER
    if not run.is_live:
        return None
    if run.row_count > _MANY_ROWS:
        return _RARE if run.row_count < 10 * _MANY_ROWS else 3 * _RARE
    return _EAGER if run.progress.get("seconds_total", 0.0) < _EAGER_FOR_SECONDS else _CALM


def _run_view(services: Services, run_id: str, was_live: bool) -> None:
    try:
        run = services.store.get(run_id)
        if run is None:
            show_warning("This run is no longer in the store.")
            return
        run_rows = read_rows(services.store, run)
        position = services.store.queue_position(run_id) if run.status == "queued" else None
    except RelensError as error:
        show_error(error)
        ticker(_RARE, key="looking")  # a busy store may answer then
        return
    _head(services, run, run_rows, position)
    selected = None
    if run_rows.rows:
        selected = results(services, run, run_rows)
    elif run.is_live:
        st.caption(_WAITING[narrative.traversal_kind(run)])
    if selected is not None:
        _detail(services, run, run_rows, selected)
    ticker(_pace(services, run, run_rows), key="looking")
    if was_live and not run.is_live:
        st.rerun()


def _head(services: Services, run: RunRecord, run_rows: RunRows, position: int | None) -> None:
    left, right = st.columns([7, 4], gap="medium", vertical_alignment="top")
    with left:
        run_status(run, position)
        if not run.is_live and st.button(
            "Repeat",
            type="tertiary" if run.status == "done" else "secondary",
            icon=":material/replay:",
            key="repeat_button",
            help="Run the same query again from the start; a sample keeps its seed.",
        ):
            begin_run(services, lambda: services.store.repeat(run.id, session_name()))
        if not run.is_live and run_rows.rows and run_rows.is_whole:
            conclusions(run, run_rows)
        device = device_line(run.device)
        if device and run.is_live:
            st.caption(device)
    with right:
        mass(run, run_rows)


def _detail(services: Services, run: RunRecord, run_rows: RunRows, number: int) -> None:
    match = run_rows.find(number)
    if match is None:
        return
    try:
        inspected, readings = _readings(services, run, match)
    except RelensError as error:
        show_error(error)
        return
    match_detail(match, inspected, readings, sampled=narrative.draws(run) is not None)


def _readings(
    services: Services, run: RunRecord, match: Mapping[str, Any]
) -> tuple[RunRecord | None, list[dict[str, Any]]]:
    """The inspection of a match, submitted once a session, and its readings when they are there."""
    opened: dict[tuple[str, int], str] = st.session_state.setdefault("opened_matches", {})
    known: dict[str, list[dict[str, Any]]] = st.session_state.setdefault("readings", {})
    key = (run.id, match["number"])
    if opened.get(key) in known:  # the store forgets inspections after a while; this session does not
        return None, known[opened[key]]
    inspected = services.store.get(opened[key]) if key in opened else None
    if inspected is None or inspected.status in ("interrupted", "stopped"):
        specification = inspection(SearchSpecification.from_json(run.specification), match)
        opened[key] = services.store.submit(specification, session_name())
        inspected = services.store.get(opened[key])
    st.session_state["open_inspection"] = opened[key]
    if inspected is not None and inspected.status == "done" and opened[key] not in known:
        known[opened[key]] = services.store.rows(opened[key])
    return inspected, known.get(opened[key], [])


def _open_inspection(services: Services) -> str | None:
    """The id of the pending inspection, or None."""
    run_id = st.session_state.get("open_inspection")
    if run_id is None:
        return None
    try:
        run = services.store.get(run_id)
    except RelensError:
        run = None
    if run is None or not run.is_live:
        st.session_state["open_inspection"] = None
        return None
    return str(run_id)
