"""Runs: their descriptions and ceilings, the store of their rows, the worker, and what children answer a page.

It uses all of the engine; of the engine only the command line uses it.
"""
