"""Run, Stop and Share: a link, the same in Python, the same in a terminal."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from relens.errors import QueryError, RelensError
from relens.runs.records import RunRecord
from relens.runs.specification import SearchSpecification
from relens_dashboard import links, snippets
from relens_dashboard.components.fill import query_link
from relens_dashboard.form import Form
from relens_dashboard.messages import show_error
from relens_dashboard.services import Services
from relens_dashboard.session import session_name

AUTOMATA, MATCHES = "Automata", "Matches"


def run_buttons(
    services: Services, specification: SearchSpecification | None, form: Form, shown: RunRecord | None
) -> None:
    """Show them. specification: the run that Run starts, None disables it. shown: the run on the page."""
    live = shown is not None and shown.is_live
    if st.button(
        "Run",
        type="primary",
        icon=":material/play_arrow:",
        shortcut="Ctrl+Enter",
        disabled=specification is None,
        key="run_button",
        help="Ask the model. Results appear under Matches as they are found.",
    ):
        _submit(services, specification)
    if (
        st.button(
            "Stop",
            icon=":material/stop:",
            disabled=not live,
            key="stop_button",
            help="End the run; its matches stay. On the keyboard: Esc, outside fields and menus.",
        )
        and live
    ):
        try:
            services.store.request_stop(shown.id)
        except RelensError as error:
            show_error(error)
    if specification is not None:
        # Drawn only while it is open: highlighted code would slow down every keystroke.
        share = st.popover("Share", icon=":material/ios_share:", key="share", on_change="rerun")
        if share.open:
            with share:
                _share(specification, form)


def _submit(services: Services, specification: SearchSpecification | None) -> None:
    if specification is not None:
        begin_run(services, lambda: services.store.submit(specification, session_name()))


def begin_run(services: Services, submit: Callable[[], str]) -> None:
    """Put a run into the queue by `submit`, ensure a worker, and show the run; or show the error."""
    try:
        run_id = submit()
    except RelensError as error:
        show_error(error)
        return
    services.ensure_worker()
    show_run(run_id)


def show_run(run_id: str) -> None:
    """Put a run into the address of the page, turn to its matches, and draw the page anew."""
    st.query_params[links.RUN] = run_id
    st.session_state["turn_to"] = MATCHES
    st.rerun()


def restoring_link(shown: RunRecord | None, specification: SearchSpecification | None) -> None:
    """Where the results belong to another query than the fields hold, offer a link back to it."""
    if shown is None or specification is None:
        return
    try:
        form_of_run = Form.from_specification(SearchSpecification.from_json(shown.specification))
        form = Form.from_specification(specification)
    except QueryError:
        return
    if form_of_run == form:
        return
    with st.container(key="restore_query", width="content"):
        query_link(
            "Matches belong to another query",
            form_of_run,
            shown.id,
            sign="↩",
            help="The fields have changed since this run. Click to put its query back.",
        )


def _share(specification: SearchSpecification, form: Form) -> None:
    st.caption("A link that restores this query; it runs only when somebody presses Run.")
    st.code(links.link(st.context.url or "", form), language=None, wrap_lines=True)
    st.caption("The same in Python")
    st.code(snippets.as_python(specification), language="python", wrap_lines=True)
    st.caption("The same in a terminal")
    st.code(snippets.as_command(specification), language="bash", wrap_lines=True)
