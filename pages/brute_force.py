"""Brute force: a small model's answers to all inputs."""

from relens_dashboard.components.study_page import study_page
from relens_dashboard.services import get_services

study_page("brute-force", get_services())
