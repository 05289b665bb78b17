"""Glossary: the terms of these pages."""

from app.components.status import status_line
from app.learn.glossary_page import glossary_page
from app.services import get_services

status_line(get_services())
glossary_page()
