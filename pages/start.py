"""Start: introduction, tour, state of the worker, examples."""

import streamlit as st

from app.components.gallery_cards import gallery
from app.components.status import status_line
from app.components.tour import tour
from app.components.welcome import welcome
from app.gallery import load_gallery
from app.places import places
from app.services import get_services
from app.study_views import study_views

services = get_services()
welcome()
tour(services)
status_line(services)
st.header("Open an example", anchor=False)
gallery(load_gallery(), places(study_views()))
