"""The study of toxicity: whether a model can be made to write rude words."""

from relens_dashboard.components.study_page import study_page
from relens_dashboard.services import get_services

study_page("toxicity", get_services())
