"""Automata: a lesson from a pattern to the automaton of a model's tokens."""

from relens.models.catalogue import available_models
from relens_dashboard.learn.lesson_page import lesson_page
from relens_dashboard.services import get_services

lesson_page(get_services(), [entry.name for entry in available_models()])
