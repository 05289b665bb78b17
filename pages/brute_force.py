"""Brute force: a small model's answers to all inputs."""

from app.components.study_page import study_page
from app.services import get_services

study_page("brute-force", get_services())
