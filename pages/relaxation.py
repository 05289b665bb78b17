"""The continuous relaxation: would a model say it if its input could be more than words?"""

from app.components.study_page import study_page
from app.services import get_services

study_page("relaxation", get_services())
