"""The panel of the query: fields, verdict, explanation, Run and Stop, and both automata, live.

All of it is one fragment: a keystroke reruns this and nothing else of the page. The fragment waits only a moment for a
preview and then looks again, so that it blocks neither the fields nor the results nor other sessions.
"""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relens.errors import ModelError, QueryError, RegexError, RelensError
from relens.runs.records import RunRecord
from relens.runs.specification import SearchSpecification
from relens_dashboard.answers import Answer
from relens_dashboard.components.automata import automata
from relens_dashboard.components.boundary_help import boundary_help
from relens_dashboard.components.edit_settings import edit_settings
from relens_dashboard.components.explanation import explanation
from relens_dashboard.components.more_settings import more_settings
from relens_dashboard.components.query_form import answer_settings, current_form, expressions, main_settings
from relens_dashboard.components.run_buttons import restoring_link, run_buttons
from relens_dashboard.components.ticker import ticker
from relens_dashboard.components.verdict import complaint, verdict
from relens_dashboard.form import Form
from relens_dashboard.live_preview import Drawn
from relens_dashboard.services import Services, live_preview

#: Seconds that the fragment waits for a preview, and until it looks again.
_WAIT_SECONDS, _LOOK_AGAIN = 0.2, 0.3
#: The panel looks again also without a pending preview: if the answer to a keystroke was lost on its way, this repairs
#: it.
_LOOK_ANYWAY = 3.0

#: States of a drawing of readable size, which is there at once.
_FEW_STATES = 36


def query_panel(services: Services, models: list[str], shown: RunRecord | None, pictures: DeltaGenerator) -> None:
    """Show the panel. `shown` is the run on the page; the automata are drawn into `pictures`."""
    st.fragment(_query_panel, key="query_panel")(services, models, shown, pictures)


def _query_panel(services: Services, models: list[str], shown: RunRecord | None, pictures: DeltaGenerator) -> None:
    left, right = st.columns([7, 5], gap="large")
    with left:
        expressions()
        sentence = st.container(key="verdict")
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    with row:
        main_settings(models)
        places = edit_settings()
        more_settings()
        st.space("stretch")
        aside = st.container(width="content")
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    with row:
        answer_settings()
        st.space("stretch")
        buttons = st.container(horizontal=True, vertical_alignment="bottom", gap="small", width="content")

    form = current_form()
    specification, problem = _specification(form)
    answer = Answer()
    if specification is not None:
        most_states = None if st.session_state.get("large_drawings") else _FEW_STATES
        answer = live_preview(services).ask(
            specification.query, specification.model, wait=_WAIT_SECONDS, most_states=most_states
        )
        problem = answer.error or problem
    if answer.value is not None:
        st.session_state["last_drawn"] = answer.value

    with sentence:
        verdict(form, answer, problem)
        if answer.value is not None:
            boundary_help(form, answer.value.preview, shown)
    if isinstance(problem, RegexError) and problem.part in places:
        with places[problem.part]:
            complaint(problem)
    with buttons:
        # A run may still compile a query that took too long for a preview, but never one without meaning.
        hopeless = isinstance(problem, (QueryError, ModelError))
        run_buttons(services, None if hopeless else specification, form, shown)
        ticker(_LOOK_AGAIN if specification is not None and answer.is_pending else _LOOK_ANYWAY, key="typing")
    with aside:
        restoring_link(shown, specification)
    drawn: Drawn | None = st.session_state.get("last_drawn") if form.pattern else None
    with right:
        explanation(drawn.preview if drawn else None)
    with pictures:
        automata(services, drawn, form.model, fresh=answer.value is not None)


def _specification(form: Form) -> tuple[SearchSpecification | None, RelensError | None]:
    if not form.pattern:
        return None, None
    try:
        return form.specification(), None
    except QueryError as error:
        return None, error
