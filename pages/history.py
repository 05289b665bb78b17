"""History: every run, found again, named, repeated, kept or deleted."""

from relens_dashboard.components.history_page import history_page
from relens_dashboard.services import get_services

history_page(get_services())
