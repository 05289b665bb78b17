"""Training a dialogue model for the search for triggers."""

from app.components.study_page import study_page
from app.services import get_services

study_page("dialogue-model", get_services())
