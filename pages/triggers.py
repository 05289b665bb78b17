"""The search for triggers: inputs that make a dialogue model say a target."""

from app.components.study_page import study_page
from app.services import get_services

study_page("triggers", get_services())
