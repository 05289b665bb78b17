"""Measurements: one script for each claim; each prints JSON with the machine it ran on."""
