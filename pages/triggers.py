"""The search for triggers: inputs that make a dialogue model say a target."""

from relens_dashboard.components.study_page import study_page
from relens_dashboard.services import get_services

study_page("triggers", get_services())
