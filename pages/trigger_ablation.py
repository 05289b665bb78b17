"""Search effort: the words and restarts that a search for triggers needs."""

from app.components.study_page import study_page
from app.services import get_services

study_page("trigger-ablation", get_services())
