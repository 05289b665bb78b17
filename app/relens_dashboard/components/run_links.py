"""Links to the pages of runs."""

from __future__ import annotations

from typing import Any

import streamlit as st

from relens.errors import QueryError
from relens.runs.records import RunRecord
from relens.runs.specification import SearchSpecification
from relens_dashboard import links
from relens_dashboard.form import Form
from relens_dashboard.runs.addresses import address_of

#: Where `relens_dashboard.main` keeps the pages by their addresses.
PAGES = "pages"


def page_named(address: str) -> Any:
    """The page of that address; None where the dashboard has none."""
    return st.session_state.get(PAGES, {}).get(address)


def open_link(run: RunRecord) -> None:
    """A link to the page that shows the run, where there is one."""
    address = address_of(run)
    page = page_named(address.page) if address is not None else None
    if address is not None and page is not None:
        st.page_link(
            page,
            label="Open",
            icon=":material/open_in_new:",
            query_params=address.parameters,
            help="Show this run on its own page, with all its findings.",
        )


def change_link(run: RunRecord) -> None:
    """A link to the run's form, filled in; it runs nothing."""
    address = address_of(run)
    page = page_named(address.page) if address is not None else None
    if address is None or page is None:
        return
    parameters = address.parameters
    if run.kind == SearchSpecification.kind:
        try:
            parameters = links.parameters(Form.from_specification(SearchSpecification.from_json(run.specification)))
        except QueryError:
            return
    st.page_link(
        page,
        label="Repeat with changes",
        icon=":material/edit:",
        query_params=parameters,
        help="Fill the form with the settings of this run. Change them, then press Run.",
    )
