"""The page of a recorded search: its settings, the recording while it is made, and then its steps."""

from __future__ import annotations

import streamlit as st

from relens.models.catalogue import available_models
from relens.studies.replay import ReplayStudy
from relens_dashboard.components.addressed_run import addressed_study
from relens_dashboard.components.status import status_line
from relens_dashboard.components.study_form import study_form
from relens_dashboard.components.study_run import begin_study, study_run
from relens_dashboard.learn.replay_player import STEP, replay_player
from relens_dashboard.learn.replay_settings import ReplayView
from relens_dashboard.services import Services
from relens_dashboard.session import session_name
from relens_dashboard.text import as_html

_VIEW = ReplayView()


def replay_heading(services: Services) -> None:
    """The title and what the page is for."""
    status_line(services)
    st.html(
        f'<h1 class="relens-title study">{as_html(ReplayStudy.title)}</h1>'
        f'<p class="relens-lead"><b>{as_html(ReplayStudy.question)}</b></p>'
        '<p class="relens-lead small">A real search of a small pattern is recorded, and you go through it step by '
        "step. Each step shows the path that the model expands and why, its next tokens, the tokens that are cut, and "
        "the matches that may be shown.</p>"
    )


def replay_page(services: Services) -> None:
    """Settings, recording, steps."""
    shown = addressed_study(services, ReplayStudy.kind, otherwise="is no recorded search")
    specification, aside = study_form(services, _VIEW, [entry.name for entry in available_models()], shown)
    with aside:
        is_live = shown is not None and shown.is_live
        if (
            st.button(
                "Record",
                type="secondary" if is_live else "primary",
                icon=":material/radio_button_checked:",
                shortcut="Ctrl+Enter",
                disabled=specification is None,
                key="replay_record",
                help="Carry out the search with these settings and record every round.",
            )
            and specification is not None
        ):
            st.session_state.pop(STEP, None)
            st.query_params.pop(STEP, None)
            begin_study(services, lambda: services.store.submit(specification, session_name()))
        if specification is not None and shown is not None and specification.to_json() != shown.specification:
            st.caption("The recording below has other settings.")
    if shown is None:
        st.caption("Press Record. The search takes seconds, and its steps stay in the store: a link opens them again.")
        return
    if not shown.is_live:
        replay_player(services, shown)
    study_run(services, _VIEW, shown)
