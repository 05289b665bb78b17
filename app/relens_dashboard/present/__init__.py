"""Findings on screens for a room: pinned figures, words for the speaker, and the file of a deck.

It uses the store's screens and the charts of `relens_dashboard`; the file opens without anything else.
"""
