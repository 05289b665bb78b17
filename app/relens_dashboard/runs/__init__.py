"""Runs for a person who returns to them: descriptions, lists, addresses; without widgets."""
