"""Training a dialogue model for the search for triggers."""

from relens_dashboard.components.study_page import study_page
from relens_dashboard.services import get_services

study_page("dialogue-model", get_services())
