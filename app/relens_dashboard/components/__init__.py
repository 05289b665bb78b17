"""Pieces of interface that pages are made of: the Workbench's form, the page of a study, lists of runs, drawings.

It uses everything in `relens_dashboard` but the pages.
"""
