"""The study of bias: what a model says of whom, in every way to ask."""

from app.components.study_page import study_page

study_page("bias")
