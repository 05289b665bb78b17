"""Workbench: write a query, see its automata, run it, watch the matches arrive."""

import streamlit as st

from relens.models.catalogue import available_models
from relens_dashboard.components.query_panel import query_panel
from relens_dashboard.components.run_buttons import AUTOMATA, MATCHES
from relens_dashboard.components.run_view import run_view
from relens_dashboard.components.shown_run import shown_run
from relens_dashboard.components.status import status_line
from relens_dashboard.services import get_services

services = get_services()
run = shown_run(services)
status_line(services)
st.html('<h1 class="relens-unseen">Workbench</h1>')
question = st.container()
if "turn_to" in st.session_state:
    st.session_state["view"] = st.session_state.pop("turn_to")
automata, matches = st.tabs([AUTOMATA, MATCHES], key="view", default=MATCHES if run else AUTOMATA, on_change="rerun")
with question:
    query_panel(services, [entry.name for entry in available_models()], run, automata)
with matches:
    run_view(services, run)
