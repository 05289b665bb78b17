"""Triggers in prompts: which words make a model of today say exactly this."""

from app.components.study_page import study_page
from app.services import get_services

study_page("causal-triggers", get_services())
