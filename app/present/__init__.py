"""Findings on screens for a room: what can be pinned, how it is explained, and the file that shows it."""
