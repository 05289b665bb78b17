"""Search replay: a recorded search, step by step; and random walks."""

import streamlit as st

from relens_dashboard.learn.replay_page import replay_heading, replay_page
from relens_dashboard.learn.walk_page import walk_page
from relens_dashboard.services import get_services

services = get_services()
replay_heading(services)
recorded, random = st.tabs(["A search", "Random walks"], key="shown", on_change="rerun", bind="query-params")
if recorded.open:
    with recorded:
        replay_page(services)
if random.open:
    with random:
        walk_page(services)
