"""A check of triggers: the probability of a target as a dialogue model's reply to an input."""

from relens_dashboard.components.study_page import study_page
from relens_dashboard.services import get_services

study_page("trigger-check", get_services())
