"""The share of some of the draws, from rows: sums them for `share_of_sums`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from relens.statistics import Estimate, WeightSums, share_of_sums


def weighted_share(
    weights: Sequence[float] | npt.NDArray[np.floating],
    counts: Sequence[int] | npt.NDArray[np.integer],
    member: Sequence[bool] | npt.NDArray[np.bool_],
    level: float = 0.95,
) -> Estimate:
    """The share of the weight that the members have. weights, counts, member: one for each row."""
    weight, count = np.asarray(weights, np.float64), np.asarray(counts, np.float64)
    weight = weight / (weight[count > 0].max(initial=0.0) or 1.0)  # a share has no unit, and squares must not vanish
    part, whole = (
        WeightSums(float(own.sum()), float(own @ weight), float(own @ weight**2))
        for own in (count * np.asarray(member, np.bool_), count)
    )
    return share_of_sums(part, whole, level)
