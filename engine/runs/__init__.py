"""Runs: what is asked of the worker, the worker, and the store of results."""
