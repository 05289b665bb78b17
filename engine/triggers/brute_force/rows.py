"""The kinds of rows of a brute-force study, which writes them (`run`), and whose findings read them (`findings`).

{"row": "part", "length": 3, "inputs": 35937, ...}      {"row": "hits", "list": "reversed", "whole": {}, ...}
"""

from __future__ import annotations

STEP, MODEL, LIST, PART, HITS, EXAMPLE, SEARCH = "step", "model", "list", "part", "hits", "example", "search"

#: Targets in one row.
TARGETS_A_ROW = 1_000
