"""The page of a study, the same for all: introduction, settings, run, findings.

Studies differ by their views (`relens_dashboard.studies.view`). The run is in the page's address, so a reload comes
back to it, and the link can be sent to others.
"""

from __future__ import annotations

import streamlit as st

from relens.models.catalogue import available_models
from relens.runs.records import RunRecord
from relens.runs.specification import StudySpecification
from relens.studies.catalogue import study_class
from relens_dashboard.components.addressed_run import addressed_study
from relens_dashboard.components.status import status_line
from relens_dashboard.components.study_form import study_form
from relens_dashboard.components.study_run import begin_study, study_run
from relens_dashboard.messages import show_error
from relens_dashboard.services import Services
from relens_dashboard.session import session_name
from relens_dashboard.studies.view import StudyView
from relens_dashboard.study_views import study_views
from relens_dashboard.text import as_html, as_markdown


def study_page(kind: str, services: Services) -> None:
    """Draw the page of the study of this kind."""
    view = study_views().get(kind)
    if view is None:
        show_error("This study has no page here.")
        return
    status_line(services)
    _introduction(view)
    shown = addressed_study(services, view.kind)
    specification, aside = study_form(services, view, [entry.name for entry in available_models()], shown)
    with aside:
        _run_button(services, specification, shown)
    study_run(services, view, shown)


def _introduction(view: StudyView) -> None:
    study = study_class(view.kind)
    st.html(
        f'<h1 class="relens-title study">{as_html(study.title)}</h1>'
        f'<p class="relens-lead"><b>{as_html(study.question)}</b></p>'
        f'<p class="relens-lead small">{as_html(view.introduction)}</p>'
    )
    if view.notice:
        st.info(as_markdown(view.notice), icon=":material/info:")


def _run_button(services: Services, specification: StudySpecification | None, shown: RunRecord | None) -> None:
    is_live = shown is not None and shown.is_live
    if (
        st.button(
            "Run",
            type="secondary" if is_live else "primary",
            icon=":material/play_arrow:",
            shortcut="Ctrl+Enter",
            disabled=specification is None,
            key="study_run_button",
            help="Carry the study out with these settings. Findings appear below, piece by piece.",
        )
        and specification is not None
    ):
        begin_study(services, lambda: services.store.submit(specification, session_name()))
    if specification is not None and shown is not None and specification.to_json() != shown.specification:
        st.caption("The run below has other settings.")
