"""Training a dialogue model, which triggers are then searched for in."""

from app.components.study_page import study_page
from app.services import get_services

study_page("dialogue-model", get_services())
