"""Compare: the settings and the findings of two or more runs."""

from app.components.compare_page import compare_page
from app.services import get_services

compare_page(get_services())
