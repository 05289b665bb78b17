"""Brute force: what a small model says to every input there is."""

from app.components.study_page import study_page
from app.services import get_services

study_page("brute-force", get_services())
