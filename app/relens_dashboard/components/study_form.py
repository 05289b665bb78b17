"""The form of a study: a preset, the study's own settings, the model.

A widget on the page keeps its value and ignores a new first value. So after the choice of another preset the page is
drawn once without the settings, which makes browser and server forget the old ones, and then again with the new ones.
"""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relens.errors import QueryError, RelensError
from relens.runs.records import RunRecord
from relens.runs.specification import StudySpecification
from relens.studies.catalogue import presets, study_class
from relens.studies.study import Study
from relens_dashboard.components.query_form import MODEL_HELP
from relens_dashboard.components.ticker import ticker
from relens_dashboard.messages import show_error, show_no_model
from relens_dashboard.services import Services, study_check
from relens_dashboard.studies.view import StudyView

#: The choice of the settings of the run on the page.
OF_RUN = "As in the run below"

_AGAIN = "study_settings_again"

#: Seconds until the page looks again whether the settings are checked.
_LOOK_AGAIN = 0.5


def study_form(
    services: Services, view: StudyView, models: list[str], shown: RunRecord | None
) -> tuple[StudySpecification | None, DeltaGenerator]:
    """Draw it; returns the specification, and a place next to the model for buttons.

    The specification is None where the settings have an error, which is shown, or are not checked yet.
    """
    offered = dict(presets(view.kind)) or {"Default": study_class(view.kind)()}
    of_run = _of_run(view, shown)
    if of_run is not None:
        offered[OF_RUN] = of_run
    names = list(offered)
    first = next((name for name, study in offered.items() if study == of_run), names[0])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        name = st.selectbox(
            "Start from",
            names,
            index=names.index(first),
            key=f"study_preset_{view.kind}",
            on_change=_settings_again,
            width=360,
            help="Fills in all settings below; change what you like.",
        )
        model = _model(view, models, shown) if study_class(view.kind).needs_model else ""
        aside = st.container(horizontal=True, vertical_alignment="center", gap="small", width="content")
    base = offered[name if name in offered else names[0]]
    if st.session_state.pop(_AGAIN, False):
        ticker(0.05, key="study_settings")
        return None, aside
    # Open before the first run; another key closes it when there is one.
    key = f"study_settings_{view.kind}_{'before' if shown is None else 'beside'}_run"
    with st.expander("Settings", expanded=shown is None, icon=":material/tune:", key=key):
        try:
            study = view.settings(base)
            checked = study_check(services).check(study)
        except RelensError as error:
            show_error(error)
            return None, aside
        if checked is None:
            st.caption("The server is busy and still checks the settings. This page looks again by itself.")
            ticker(_LOOK_AGAIN, key="study_settings")
            return None, aside
        if extent := view.extent(study, checked):
            st.caption(extent)
    if study_class(view.kind).needs_model and not model:
        show_no_model()
        return None, aside
    # A study without a language model is listed under its own model, which is a setting.
    return StudySpecification(model or view.own_model(study), study), aside


def _settings_again() -> None:
    st.session_state[_AGAIN] = True


def _model(view: StudyView, models: list[str], shown: RunRecord | None) -> str:
    """The chosen model; "" where there is none to choose."""
    names = list(models)
    if shown is not None and shown.model not in names:
        names.append(shown.model)
    chosen = st.selectbox(
        "Model",
        names,
        index=names.index(shown.model) if shown is not None else 0,
        key=f"study_model_{view.kind}",
        accept_new_options=True,
        width=240,
        help=MODEL_HELP,
    )
    return chosen or next(iter(names), "")


def _of_run(view: StudyView, shown: RunRecord | None) -> Study | None:
    """The study of the run on the page; None without a run, or for a specification of another version."""
    if shown is None:
        return None
    try:
        return StudySpecification.from_json(shown.specification).study
    except QueryError:
        return None
