"""Glossary: the terms of these pages."""

from relens_dashboard.components.status import status_line
from relens_dashboard.learn.glossary_page import glossary_page
from relens_dashboard.services import get_services

status_line(get_services())
glossary_page()
