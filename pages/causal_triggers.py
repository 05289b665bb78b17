"""Triggers in prompts: words that make a language model say exactly the target."""

from app.components.study_page import study_page
from app.services import get_services

study_page("causal-triggers", get_services())
