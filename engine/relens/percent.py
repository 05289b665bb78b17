"""Shares and p-values as people write them, the same in every sentence and table.

percent(0.3104)        "31 %"
percent(0.3104, 1)     "31.0 %"
p_value_text(-1.5)     "0.032"
p_value_text(-66.2)    "10^-66"
p_text(0.0321)         "0.032"
"""

from __future__ import annotations

import math


def percent(share: float, decimals: int = 0) -> str:
    """A share, 0 to 1, in per cent with so many decimals."""
    return f"{100 * share:.{decimals}f} %"


def p_value_text(log10_p: float) -> str:
    """A p-value of any size, by its logarithm to base 10."""
    if log10_p > -4.0:
        return f"{10**log10_p:.2g}"
    return f"10^{log10_p:.0f}" if math.isfinite(log10_p) else "0"


def p_text(p_value: float) -> str:
    """A p-value that is a float."""
    return p_value_text(math.log10(p_value) if p_value > 0.0 else -math.inf)
