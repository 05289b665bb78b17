"""Brute force: the reply of a model of characters to every input, and how many of its targets a search finds.

It uses `relens.triggers.model` and the search of `relens.triggers.search`.
"""
