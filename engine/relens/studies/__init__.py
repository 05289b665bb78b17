"""The evaluations of the ReLM paper as studies: settings, units, rows, findings and sentences.

A study searches by `relens.search_run` and `relens.many_searches`; its findings are functions of its rows alone. All
are listed in `catalogue`.
"""
