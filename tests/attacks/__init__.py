"""Attacks on a running copy: each was once carried out and did harm, or is of a kind that was tried and must do none."""
