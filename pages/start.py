"""Start: what this is, something to try, and how the machinery is."""

import streamlit as st

from app.components.gallery_cards import gallery_cards
from app.components.status import status_line
from app.components.welcome import welcome
from app.gallery import load_gallery
from app.services import get_services

welcome()
status_line(get_services())
st.subheader("Open an example", anchor=False)
gallery_cards(load_gallery(), st.session_state["workbench_page"])
