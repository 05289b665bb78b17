"""What is asked: a preset, the study's own settings, the model.

A widget keeps what it holds as long as it is on the page, whatever first value it is given. So when another preset is
chosen, the page is drawn once without the settings, and then again with new ones: the browser and the server have both
forgotten the old ones by then.
"""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.components.messages import show_error, show_no_model
from app.components.ticker import ticker
from app.services import Services, study_check
from app.studies.view import StudyView
from engine.errors import QueryError, RelensError
from engine.runs.records import RunRecord
from engine.runs.specification import StudySpecification
from engine.studies.catalogue import presets, study_class
from engine.studies.study import Study

#: The choice of the settings that the run on the page has.
OF_RUN = "As in the run below"

_AGAIN = "study_settings_again"

#: Seconds until the page looks again whether the settings are checked.
_LOOK_AGAIN = 0.5


def study_form(
    services: Services, view: StudyView, models: list[str], shown: RunRecord | None
) -> tuple[StudySpecification | None, DeltaGenerator]:
    """Draw it; returns what would be run, and a place beside the model for what can be done with it.

    None where that has no meaning (which is said) or is not known yet.
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
    # Open while there is nothing else to see; under another key, so that it closes when there is.
    key = f"study_settings_{view.kind}_{'before' if shown is None else 'beside'}_run"
    with st.expander("Settings", expanded=shown is None, icon=":material/tune:", key=key):
        try:
            study = view.settings(base)
            checked = study_check(services).check(study)
        except RelensError as error:
            show_error(error)
            return None, aside
        if checked is None:
            st.caption("The settings are still being checked, because the server is busy; this page looks again.")
            ticker(_LOOK_AGAIN, key="study_settings")
            return None, aside
        if extent := view.extent(study, checked):
            st.caption(extent)
    if study_class(view.kind).needs_model and not model:
        show_no_model()
        return None, aside
    # A study without a language model is listed under what it asks, which its own settings name.
    return StudySpecification(model or view.own_model(study), study), aside


def _settings_again() -> None:
    st.session_state[_AGAIN] = True


def _model(view: StudyView, models: list[str], shown: RunRecord | None) -> str:
    """The model that is chosen, "" where there is none to choose."""
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
        help="Who is asked. Another model gives another answer. Type a name from the model hub or a folder on the "
        "server, where the operator allows it.",
    )
    return chosen or next(iter(names), "")


def _of_run(view: StudyView, shown: RunRecord | None) -> Study | None:
    """The study of the run on the page; None where there is none, or where it is no longer understood."""
    if shown is None:
        return None
    try:
        return StudySpecification.from_json(shown.specification).study
    except QueryError:
        return None
