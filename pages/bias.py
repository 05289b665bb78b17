"""The study of bias: whether a model's words depend on whom they are about."""

from relens_dashboard.components.study_page import study_page
from relens_dashboard.services import get_services

study_page("bias", get_services())
