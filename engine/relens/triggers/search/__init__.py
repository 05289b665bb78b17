"""The search for triggers of a dialogue model: lists of targets, scoring of many inputs, sweeps, and their studies.

It uses `relens.triggers.model` and what the room shares.
"""
