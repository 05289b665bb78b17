"""Brute force: the reply of a model of characters to every input, and how many of its targets a search finds.

It uses `engine.triggers.model` and the search of `engine.triggers.search`.
"""
