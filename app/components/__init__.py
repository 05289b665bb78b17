"""Pieces of interface that are used on several pages."""
