"""Proportions of right answers, and McNemar's test of two variants on the same questions.

Two variants are tried on the same 40 passages, so their answers are pairs:

                      second right   second wrong
    first right           12              3          3 passages speak for the first,
    first wrong           10             15          10 for the second, the other 27 for neither

If both were equally good, each of the 13 passages on which they disagree would speak for either with probability 1/2.
The p-value of McNemar's exact test is the probability of so uneven a split: P(at most 3 of 13, or at least 10) = 0.09.

Sources: Q. McNemar, "Note on the sampling error of the difference between correlated proportions or percentages"; E. B.
Wilson, "Probable inference, the law of succession, and statistical inference"; S. Holm, "A simple sequentially
rejective multiple test procedure".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import special

from relens.record import Record
from relens.statistics import Estimate

#: A difference counts where its corrected p-value is below this.
SIGNIFICANT = 0.05


def proportion(right: int, total: int, level: float = 0.95) -> Estimate:
    """The share of right answers with Wilson's interval; between 0 and 1 without questions.

    Raises `ValueError` for more right answers than questions.
    """
    if not 0 <= right <= total:
        raise ValueError(f"{right} of {total} is no share.")
    if total == 0:
        return Estimate(0.0, 0.0, 1.0)
    share, normal = right / total, float(special.ndtri(0.5 + level / 2.0))
    spread = normal**2 / total
    centre = (share + spread / 2.0) / (1.0 + spread)
    half = math.sqrt(spread * share * (1.0 - share) + spread**2 / 4.0) / (1.0 + spread)
    return Estimate(share, 0.0 if right == 0 else centre - half, 1.0 if right == total else centre + half)


@dataclass(frozen=True)
class PairedTest(Record):
    """Two variants on the same questions. pairs: how many; first_only, second_only: questions that one alone has right.

    p_value: of McNemar's exact test, two-sided; 1 where they never disagree.
    """

    pairs: int
    first_only: int
    second_only: int
    p_value: float


def paired_test(first: Sequence[bool], second: Sequence[bool]) -> PairedTest:
    """McNemar's exact test. Raises `ValueError` where the two are not of one length."""
    pairs = list(zip(first, second, strict=True))
    first_only = sum(one and not other for one, other in pairs)
    second_only = sum(other and not one for one, other in pairs)
    disagreements = first_only + second_only
    tail = float(special.bdtr(min(first_only, second_only), disagreements, 0.5))
    return PairedTest(len(pairs), first_only, second_only, min(1.0, 2.0 * tail))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values corrected for their number, in the same order (Holm's step-down procedure)."""
    corrected = [0.0] * len(p_values)
    least = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda place: p_values[place])):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = least
    return corrected
