"""The study of memorization: texts that a model has learned by heart."""

from app.components.study_page import study_page
from app.services import get_services

study_page("memorization", get_services())
