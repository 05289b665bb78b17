"""The run that the Workbench shows: the one in the address of the page.

So a reload in mid-run comes back to it, and the address can be sent to others. An address with a run and no query puts
the run's own query into the fields.
"""

from __future__ import annotations

import dataclasses

import streamlit as st

from relens.errors import QueryError
from relens.runs.records import RunRecord
from relens.runs.specification import SearchSpecification
from relens_dashboard.components.addressed_run import addressed_search
from relens_dashboard.components.fill import fill_fields
from relens_dashboard.form import Form
from relens_dashboard.services import Services


def shown_run(services: Services) -> RunRecord | None:
    """The run in the address, or None."""
    run = addressed_search(services)
    if run is None:
        return None
    fields = {item.name for item in dataclasses.fields(Form)}
    if not fields & set(st.query_params) and not st.session_state.get("pattern"):
        _restore_query(run)
    return run


def _restore_query(run: RunRecord) -> None:
    try:
        form = Form.from_specification(SearchSpecification.from_json(run.specification))
    except QueryError:
        return
    fill_fields(form, run.id)
