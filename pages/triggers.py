"""The search for triggers: which inputs make a dialogue model say what it should not."""

from app.components.study_page import study_page
from app.services import get_services

study_page("triggers", get_services())
