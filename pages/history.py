"""History: every run, found again, named, repeated, kept or deleted."""

from app.components.history_page import history_page
from app.services import get_services

history_page(get_services())
