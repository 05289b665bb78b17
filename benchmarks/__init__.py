"""Measurements: one script a claim; each prints JSON and says on what machine."""
