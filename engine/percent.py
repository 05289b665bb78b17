"""Shares as people write them: "31 %", the same in every sentence and table.

percent(0.3104)       "31 %"
percent(0.3104, 1)    "31.0 %"
"""

from __future__ import annotations


def percent(share: float, decimals: int = 0) -> str:
    """A share, 0 to 1, in per cent with so many decimals."""
    return f"{100 * share:.{decimals}f} %"
