"""Tokens: all encodings of a text, drawn, counted, and scored by the model."""

from relens.models.catalogue import available_models
from relens_dashboard.learn.tokens_page import tokens_page
from relens_dashboard.services import get_services

tokens_page(get_services(), [entry.name for entry in available_models()])
