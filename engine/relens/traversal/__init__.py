"""Walking a token automaton with a model: best first, by sampling, to a distribution; frontier, masses and matches.

It uses `relens.tokens` and the scorers of `relens.models`.
"""
