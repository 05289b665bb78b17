"""Brute force: every input of a model of characters, what it says to each, and whether a search finds what there is.

It uses `engine.triggers.model` and the search of `engine.triggers.search`.
"""
