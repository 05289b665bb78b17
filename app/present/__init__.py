"""Findings on screens for a room: what can be pinned, how it is explained, and the file that shows it.

It uses the store's screens and the charts of `app`; a file that it writes needs nothing else to open.
"""
