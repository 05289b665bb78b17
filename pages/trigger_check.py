"""A check of triggers: what a dialogue model makes of an input and a target."""

from app.components.study_page import study_page
from app.services import get_services

study_page("trigger-check", get_services())
