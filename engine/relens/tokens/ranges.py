"""Ranges in a row: the step by which a loop over many short slices becomes one array operation.

The slices 3:5 and 8:11 of an array are its elements 3, 4, 8, 9, 10, of which the first two belong to slice 0:

    expand([3, 8], [2, 3])  ->  [0, 0, 1, 1, 1], [3, 4, 8, 9, 10]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


def expand(low: npt.NDArray[np.integer[Any]], size: npt.NDArray[np.integer[Any]]) -> tuple[Integers, Integers]:
    """For ranges low[i] to low[i] + size[i] - 1, in a row: which range each element is from, and the element."""
    owner = np.repeat(np.arange(len(low)), size)
    return owner, np.arange(len(owner)) + np.repeat(low - (np.cumsum(size) - size), size)
