"""Putting a query into the fields of the Workbench, the way a link does; nothing is run by it.

Where fields are drawn already, only the browser can fill them from an address: Streamlit lets no script set a parameter
that a widget is bound to. So a page that shows fields offers a link, and one that has none yet goes there by itself.
"""

from __future__ import annotations

from typing import NoReturn

import streamlit as st

from app import links
from app.form import Form


def query_link(label: str, form: Form, run_id: str | None, *, icon: str, help: str) -> None:
    """A link that fills the fields with `form`, goes on showing the run, and views its results as they are viewed."""
    st.page_link(
        st.session_state["workbench_page"], label=label, icon=icon, query_params=_parameters(form, run_id), help=help
    )


def fill_fields(form: Form, run_id: str | None) -> NoReturn:
    """Draw the page anew with the values of `form`, before any field of it is drawn."""
    st.switch_page(st.session_state["workbench_page"], query_params=_parameters(form, run_id))


def _parameters(form: Form, run_id: str | None) -> dict[str, str | list[str]]:
    parameters: dict[str, str | list[str]] = {**links.parameters(form)}
    for name in links.VIEW:
        values = st.query_params.get_all(name)
        if values:
            parameters[name] = values
    if run_id is not None:
        parameters[links.RUN] = run_id
    return parameters
