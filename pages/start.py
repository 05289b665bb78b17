"""Start: introduction, tour, state of the worker, examples."""

import streamlit as st

from relens_dashboard.components.gallery_cards import gallery
from relens_dashboard.components.status import status_line
from relens_dashboard.components.tour import tour
from relens_dashboard.components.welcome import welcome
from relens_dashboard.gallery import load_gallery
from relens_dashboard.places import places
from relens_dashboard.services import get_services
from relens_dashboard.study_views import study_views

services = get_services()
welcome()
tour(services)
status_line(services)
st.header("Open an example", anchor=False)
gallery(load_gallery(), places(study_views()))
