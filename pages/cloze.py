"""The study of cloze: whether a model guesses the last word of a passage."""

from app.components.study_page import study_page
from app.services import get_services

study_page("cloze", get_services())
