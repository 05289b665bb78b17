"""Findings on screens for a room: arrange, show, export."""

from app.components.present_page import present_page
from app.services import get_services

present_page(get_services())
