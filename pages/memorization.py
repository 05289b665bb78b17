"""The study of memorization: texts that a model has learned by heart."""

from relens_dashboard.components.study_page import study_page
from relens_dashboard.services import get_services

study_page("memorization", get_services())
