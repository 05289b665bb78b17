"""Triggers in prompts: words that make a language model say exactly the target."""

from relens_dashboard.components.study_page import study_page
from relens_dashboard.services import get_services

study_page("causal-triggers", get_services())
