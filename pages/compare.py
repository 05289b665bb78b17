"""Compare: the settings and the findings of two or more runs."""

from relens_dashboard.components.compare_page import compare_page
from relens_dashboard.services import get_services

compare_page(get_services())
