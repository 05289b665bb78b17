"""Search effort: the words and restarts that a search for triggers needs."""

from relens_dashboard.components.study_page import study_page
from relens_dashboard.services import get_services

study_page("trigger-ablation", get_services())
