"""The continuous relaxation: would a model say it if its input could be more than words?"""

from relens_dashboard.components.study_page import study_page
from relens_dashboard.services import get_services

study_page("relaxation", get_services())
