"""Runs as a person comes back to them: how they are told, listed and reached."""
