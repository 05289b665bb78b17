"""Compare: two or more runs, what was asked of them and what they found."""

from app.components.compare_page import compare_page
from app.services import get_services

compare_page(get_services())
