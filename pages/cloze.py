"""The study of cloze: whether a model guesses the last word of a passage."""

from relens_dashboard.components.study_page import study_page
from relens_dashboard.services import get_services

study_page("cloze", get_services())
