"""Findings on screens for a room: arrange, show, export."""

from relens_dashboard.components.present_page import present_page
from relens_dashboard.services import get_services

present_page(get_services())
