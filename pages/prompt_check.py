"""A check of prompts: the probability of a target after a text."""

from relens_dashboard.components.study_page import study_page
from relens_dashboard.services import get_services

study_page("prompt-check", get_services())
