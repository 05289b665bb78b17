"""Search replay: a recorded search, step by step; and random walks."""

import streamlit as st

from app.learn.replay_page import replay_heading, replay_page
from app.learn.walk_page import walk_page
from app.services import get_services

services = get_services()
replay_heading(services)
recorded, random = st.tabs(["A search", "Random walks"], key="shown", on_change="rerun", bind="query-params")
if recorded.open:
    with recorded:
        replay_page(services)
if random.open:
    with random:
        walk_page(services)
