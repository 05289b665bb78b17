"""Lessons: how a regular expression becomes the automaton of a model's tokens, one operation a step."""
