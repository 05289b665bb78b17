"""Runs as a person comes back to them: how they are described, listed and reached.

It uses the store's records and no widgets.
"""
