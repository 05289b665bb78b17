"""Relens: ask language models questions with regular expressions."""
