"""Automata: a lesson from a pattern to the automaton of a model's tokens."""

from app.learn.lesson_page import lesson_page
from app.services import get_services
from engine.models.catalogue import available_models

lesson_page(get_services(), [entry.name for entry in available_models()])
