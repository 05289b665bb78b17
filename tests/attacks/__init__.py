"""Attacks on a running copy: each once did harm, or is of a kind that was tried and must do none."""
