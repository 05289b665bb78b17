"""A check of triggers: the probability of a target as a dialogue model's reply to an input."""

from app.components.study_page import study_page
from app.services import get_services

study_page("trigger-check", get_services())
