"""The frontier of a best-first search: a priority queue that holds millions of entries in arrays.

A search over an open class such as `[a-z]+` pushes far more than it ever pops. A heap of Python tuples spends about
130 bytes on each entry and touches all of them; yet only the cheapest few thousand matter for a long while. So the
frontier is split by cost at a moving `horizon`:

    near   a small binary heap: every entry whose cost is at most the horizon
    far    two growing arrays (cost, item), unordered: every entry whose cost is above it, 16 bytes each

A push is a heap push or an append. When `near` runs empty, the cheapest `REFILL` entries of `far` move over by a
linear selection and the horizon rises to the dearest of them; when `near` grows too large, its dearer part moves out
and the horizon falls. The order of pops is that of one heap of (cost, item) pairs, ties included.
"""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

REFILL = 4096


class Frontier:
    """Entries (cost, item), popped by least cost and, among equal costs, least item."""

    def __init__(self, refill: int = REFILL) -> None:
        self._refill = refill
        self._near: list[tuple[float, int]] = []
        self._horizon = float("inf")
        self._far_costs: npt.NDArray[np.float64] = np.empty(1024, np.float64)
        self._far_items: npt.NDArray[np.int64] = np.empty(1024, np.int64)
        self._far_size = 0

    def __len__(self) -> int:
        return len(self._near) + self._far_size

    def push(self, cost: float, item: int) -> None:
        """Add an entry; O(log near) or O(1) amortised."""
        if cost <= self._horizon:
            heapq.heappush(self._near, (cost, item))
            if len(self._near) > 4 * self._refill:
                self._spill()
        else:
            self._append_far(np.array([cost]), np.array([item], np.int64))

    def pop(self) -> tuple[float, int]:
        """Remove and return the least entry. Raises IndexError when there is none."""
        if not self._near:
            self._fill()
        return heapq.heappop(self._near)

    def least(self, count: int) -> list[tuple[float, int]]:
        """The next `count` entries in the order of pops; they stay. O(all): for observers."""
        entries = heapq.nsmallest(count, self._near)
        if len(entries) < count and self._far_size:
            costs, items = self._far_costs[: self._far_size], self._far_items[: self._far_size]
            order = np.lexsort((items, costs))[: count - len(entries)]
            entries += zip(costs[order].tolist(), items[order].tolist(), strict=True)
        return entries

    def _append_far(self, costs: npt.NDArray[np.float64], items: npt.NDArray[np.int64]) -> None:
        needed = self._far_size + len(costs)
        if needed > len(self._far_costs):
            capacity = max(needed, 2 * len(self._far_costs))
            self._far_costs = np.concatenate([self._far_costs, np.empty(capacity - len(self._far_costs))])
            self._far_items = np.concatenate([self._far_items, np.empty(capacity - len(self._far_items), np.int64)])
        self._far_costs[self._far_size : needed] = costs
        self._far_items[self._far_size : needed] = items
        self._far_size = needed

    def _spill(self) -> None:
        """Keep about `refill` of the least entries near, and every entry that ties with the dearest of them."""
        entries = sorted(self._near)
        self._horizon = entries[self._refill - 1][0]
        keep = self._refill
        while keep < len(entries) and entries[keep][0] == self._horizon:
            keep += 1
        self._near = entries[:keep]
        moved = entries[keep:]
        if moved:
            self._append_far(
                np.array([cost for cost, _ in moved], np.float64), np.array([item for _, item in moved], np.int64)
            )

    def _fill(self) -> None:
        costs, items = self._far_costs[: self._far_size], self._far_items[: self._far_size]
        if self._far_size <= self._refill:
            # Everything is near; what comes next may be near as well.
            self._horizon = float("inf")
            chosen = np.ones(self._far_size, np.bool_)
        else:
            self._horizon = float(np.partition(costs, self._refill - 1)[self._refill - 1])
            chosen = costs <= self._horizon
        self._near = sorted(zip(costs[chosen].tolist(), items[chosen].tolist(), strict=True))
        rest = ~chosen
        kept = int(np.count_nonzero(rest))
        self._far_costs[:kept], self._far_items[:kept] = costs[rest], items[rest]
        self._far_size = kept
