"""Tokens: all encodings of a text, drawn, counted, and scored by the model."""

from app.learn.tokens_page import tokens_page
from app.services import get_services
from engine.models.catalogue import available_models

tokens_page(get_services(), [entry.name for entry in available_models()])
