"""A check of prompts: the probability of a target after a text."""

from app.components.study_page import study_page
from app.services import get_services

study_page("prompt-check", get_services())
