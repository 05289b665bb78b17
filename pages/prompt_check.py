"""A check of prompts: what a model of today makes of a text and a target."""

from app.components.study_page import study_page
from app.services import get_services

study_page("prompt-check", get_services())
