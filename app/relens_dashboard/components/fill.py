"""Links that put a query into the fields of the Workbench; they run nothing.

The page's address fills the fields. Once fields are drawn, this needs an ordinary link that loads the page anew:
Streamlit lets no script set a parameter bound to a widget, and its own links within one page fill the fields but keep
the old address, so a reload would bring the old query back. A page without fields goes to the address by itself.
"""

from __future__ import annotations

from typing import NoReturn
from urllib.parse import urlencode

import streamlit as st

from relens_dashboard import links
from relens_dashboard.form import Form
from relens_dashboard.text import as_html


def query_link(label: str, form: Form, run_id: str | None, *, sign: str, help: str) -> None:
    """A link that fills the fields with `form` and keeps the run and the view of its results."""
    st.html(query_link_html(label, _parameters(form, run_id), sign=sign, help=help), width="content")


def query_link_html(label: str, parameters: dict[str, str | list[str]], *, sign: str, help: str) -> str:
    """The link as HTML: the same page with these parameters."""
    address = f"?{urlencode(parameters, doseq=True)}"
    return (
        f'<a class="relens-link" href="{as_html(address)}" target="_self" title="{as_html(help)}">'
        f'<span aria-hidden="true">{sign}</span> {as_html(label)}</a>'
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
