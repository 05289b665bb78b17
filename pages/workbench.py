"""Workbench: write a query, see its automata, run it, watch the matches arrive."""

import streamlit as st

from app.components.query_panel import query_panel
from app.components.run_buttons import AUTOMATA, MATCHES
from app.components.run_view import run_view
from app.components.shown_run import shown_run
from app.components.status import status_line
from app.services import get_services
from engine.models.catalogue import available_models

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
