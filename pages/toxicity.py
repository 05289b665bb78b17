"""The study of toxicity: whether a model can be made to write rude words."""

from app.components.study_page import study_page
from app.services import get_services

study_page("toxicity", get_services())
