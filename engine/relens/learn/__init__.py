"""Lessons: how a regular expression becomes the automaton of a model's tokens, one operation a step.

The textbook's constructions are built here on purpose, on top of `relens.language`, `relens.tokens` and
`relens.pictures`.
"""
