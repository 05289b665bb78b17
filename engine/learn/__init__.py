"""Lessons: how a regular expression becomes the automaton of a model's tokens, one operation a step.

It builds the textbook's constructions anew, on purpose, and uses `engine.language`, `engine.tokens` and
`engine.pictures`.
"""
