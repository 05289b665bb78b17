"""The study of knowledge: whether a model knows a fact, in three kinds of question."""

from app.components.study_page import study_page
from app.services import get_services

study_page("knowledge", get_services())
