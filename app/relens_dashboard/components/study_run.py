"""A study's run on the page: its progress and its findings so far.

A fragment, alone in its container, that looks again by itself while something is pending. All sessions share rows and
findings (`relens_dashboard.run_rows`). Findings take longer than a look, so they are made anew only when there are new
rows: the longer it takes, the more rarely.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from relens.errors import QueryError, RelensError
from relens.runs.records import RunRecord
from relens.runs.specification import StudySpecification
from relens.studies.masking import Masker
from relens_dashboard import links, narrative, study_narrative
from relens_dashboard.components.run_panel import HUES, device_line
from relens_dashboard.components.study_findings import (
    downloads,
    findings,
    remembered_findings,
    show_figures,
    show_tables,
)
from relens_dashboard.components.ticker import ticker
from relens_dashboard.messages import show_error, show_warning
from relens_dashboard.run_rows import READ_ON, RunRows, read_rows
from relens_dashboard.runs.imported import made_of
from relens_dashboard.services import Services
from relens_dashboard.session import session_name
from relens_dashboard.studies.view import StudyView
from relens_dashboard.text import as_html, as_markdown

#: Seconds between two looks: at first, and later.
_EAGER, _CALM = 1.0, 2.0
_EAGER_FOR_SECONDS = 10.0


def begin_study(services: Services, submit: Callable[[], str]) -> None:
    """Put a study into the queue by `submit`, ensure a worker, and show its run; or show the error."""
    try:
        run_id = submit()
    except RelensError as error:
        show_error(error)
        return
    services.ensure_worker()
    st.query_params[links.RUN] = run_id
    st.rerun()


def study_run(services: Services, view: StudyView, shown: RunRecord | None) -> None:
    """Show the run, or a caption in its place."""
    with st.container():
        if shown is None:
            st.caption("Press Run. A study works piece by piece: you can stop it, resume it, and read finished pieces.")
        else:
            st.fragment(_study_run, key=f"study_run_{view.kind}")(services, view, shown.id, shown.is_live)


def _study_run(services: Services, view: StudyView, run_id: str, was_live: bool) -> None:
    try:
        run = services.store.get(run_id)
        if run is None:
            show_warning("This run is no longer in the store.")
            return
        run_rows = read_rows(services.store, run)
        position = services.store.queue_position(run_id) if run.status == "queued" else None
        specification = StudySpecification.from_json(run.specification)
    except RelensError as error:
        show_error(error)
        ticker(_CALM, key="study_looking")  # a busy store may answer then
        return
    st.divider()
    waits = False
    try:
        with made_of(run):
            _status(run, run_rows, position, view.mask(specification.study))
            _buttons(services, run)
            waits = _findings(services, view, run, specification, run_rows)
    except QueryError as error:
        show_error(error)
    ticker(_EAGER if waits and run_rows.is_read and not run.is_live else _pace(run, run_rows), key="study_looking")
    if was_live != run.is_live:
        st.rerun()


def _findings(
    services: Services, view: StudyView, run: RunRecord, specification: StudySpecification, run_rows: RunRows
) -> bool:
    """Show the findings; returns whether a detail waits for the worker."""
    if not run_rows.is_read:
        st.info(as_markdown(run_rows.reading_sentence()), icon=":material/hourglass_top:")
        return False
    switches = view.switches() if run_rows.rows else ()
    if run_rows.is_cut:
        st.info(as_markdown(run_rows.cut_sentence()), icon=":material/info:")
        downloads(services, view, run, specification, run_rows, None)
        return False
    if not run_rows.rows:
        if run.is_live:
            st.caption("The first findings appear as soon as there is something to show.")
        return False
    shown = remembered_findings(view, specification.study, run_rows, switches)
    findings(shown)
    downloads(services, view, run, specification, run_rows, shown)
    show_figures(services, view, run, specification.study, shown)
    waits = view.draw_details(services, run, specification.study, shown.findings)
    show_tables(shown)
    return waits


def _pace(run: RunRecord, run_rows: RunRows) -> float | None:
    if not run_rows.is_read:
        return READ_ON
    if not run.is_live:
        return None
    return _EAGER if run.progress.get("seconds_total", 0.0) < _EAGER_FOR_SECONDS else _CALM


def _status(run: RunRecord, run_rows: RunRows, position: int | None, mask: Masker | None) -> None:
    headline = narrative.status_headline(run, position)
    units, work = study_narrative.units_sentence(run), study_narrative.work_sentence(run, run_rows.rows)
    if mask is not None:  # a unit's name may contain the word searched for
        units = mask(units)
    if run.is_live:
        detail = " · ".join(part for part in (units, work) if part)
        text = f"**{as_markdown(headline)}**" + (f" · {as_markdown(detail)}" if detail else "")
        st.progress(study_narrative.fraction_done(run), text=text)
        device = device_line(run.device)
        if device:
            st.caption(as_markdown(device))
        return
    ending = study_narrative.ending_sentence(run)
    detail = " · ".join(part for part in (units, work) if part)
    st.html(
        f'<div class="relens-verdict" data-run-status="{run.status}">'
        f'<span><i class="relens-dot" style="--hue:{HUES[run.status]}"></i><b>{as_html(headline)}</b></span>'
        f"<span>{as_html(ending or detail)}</span></div>"
    )
    if ending and detail:
        st.caption(as_markdown(detail))


def _buttons(services: Services, run: RunRecord) -> None:
    """Stop for a live run; then Repeat, and Resume if it is not done."""
    with st.container(horizontal=True, gap="small"):
        if run.is_live:
            if st.button(
                "Stop",
                icon=":material/stop:",
                disabled=run.stop_requested,
                key="study_stop_button",
                help="End the run; finished pieces stay, and it can be resumed. On the keyboard: Esc, outside fields "
                "and menus.",
            ):
                _act(lambda: services.store.request_stop(run.id))
            return
        if study_narrative.can_resume(run) and st.button(
            "Resume",
            type="primary",
            icon=":material/resume:",
            key="study_resume_button",
            help="Continue this run; finished pieces are not repeated.",
        ):
            _resume(services, run)
        if st.button(
            "Repeat",
            icon=":material/replay:",
            key="study_repeat_button",
            help="Run the same study again from the start, as a new run.",
        ):
            begin_study(services, lambda: services.store.repeat(run.id, session_name()))


def _resume(services: Services, run: RunRecord) -> None:
    try:
        services.store.resume(run.id)
    except RelensError as error:
        show_error(error)  # no rerun: it would remove the error
        return
    services.ensure_worker()
    st.rerun()


def _act(action: Callable[[], None]) -> None:
    try:
        action()
    except RelensError as error:
        show_error(error)
