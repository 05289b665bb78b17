"""The study of knowledge: whether a model knows a fact, in three kinds of question."""

from relens_dashboard.components.study_page import study_page
from relens_dashboard.services import get_services

study_page("knowledge", get_services())
