"""The study of memorization: what a model has learned by heart."""

from app.components.study_page import study_page

study_page("memorization")
