"""The study of bias: what a model says of whom, in every way to ask."""

from app.components.study_page import study_page
from app.services import get_services

study_page("bias", get_services())
