"""Which nodes have their keys and values in memory, and in which slot.

The pool of keys and values is a table with one row, a slot, per token. A node that is computed takes a free slot, or a
new one while the budget allows, or else the slot of the node that has gone unused for longest. The node that lost its
slot is not wrong, only absent: should its path be needed again it is computed again, like any new node.

Invariant: `slot_of[n] == s` exactly where `node_of[s] == n`; every slot below `used` is either taken or in `free`.
Placing n nodes is O(n), and O(slots) on top when something must be evicted.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
ABSENT = -1


class Residency:
    """An assignment of slots, at most `limit` of them, to nodes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._free: list[int] = []
        self._slot_of: IntArray = np.full(1024, ABSENT, np.int64)
        self._node_of: IntArray = np.full(0, ABSENT, np.int64)
        self._last_use: IntArray = np.zeros(0, np.int64)
        self._clock = 0

    def __len__(self) -> int:
        """How many nodes are resident."""
        return self.used - len(self._free)

    def slots(self, nodes: IntArray) -> IntArray:
        """The slot of each node, `ABSENT` where it has none."""
        if len(nodes) and (largest := int(nodes.max())) >= len(self._slot_of):
            self._slot_of = _grown(self._slot_of, largest + 1, ABSENT)
        return self._slot_of[nodes]

    def place(self, needed: IntArray, new: IntArray) -> IntArray:
        """Give every node of `new` a slot without taking one from `needed`; both without repetition, new within needed.

        Returns the slots of `new`. Requires `len(needed) <= limit`.
        """
        self._clock += 1
        held = self.slots(needed)
        self._last_use[held[held != ABSENT]] = self._clock
        missing = len(new) - len(self._free)
        if missing > 0:
            missing -= self._open_slots(missing)
        if missing > 0:
            self._evict(missing)
        kept = len(self._free) - len(new)
        slots = np.array(self._free[kept:], np.int64)
        del self._free[kept:]
        self._slot_of[new] = slots
        self._node_of[slots] = new
        self._last_use[slots] = self._clock
        return slots

    def drop(self, nodes: IntArray) -> None:
        """Take the slots of these nodes away, where they have one."""
        slots = self.slots(nodes)
        present = slots != ABSENT
        self._slot_of[nodes[present]] = ABSENT
        self._node_of[slots[present]] = ABSENT
        self._free.extend(slots[present].tolist())

    def _open_slots(self, count: int) -> int:
        """Open up to `count` slots that were never used; returns how many."""
        count = min(count, self.limit - self.used)
        if self.used + count > len(self._node_of):
            self._node_of = _grown(self._node_of, self.used + count, ABSENT)
            self._last_use = _grown(self._last_use, self.used + count, 0)
        self._free.extend(range(self.used + count - 1, self.used - 1, -1))
        self.used += count
        return count

    def _evict(self, count: int) -> None:
        """Free the `count` slots unused for longest; those of the present call have the latest clock and stay."""
        taken = np.flatnonzero(self._node_of[: self.used] != ABSENT)
        ages = self._last_use[taken]
        oldest = taken[np.argpartition(ages, count - 1)[:count]]
        self.drop(self._node_of[oldest])


def _grown(array: IntArray, needed: int, fill: int) -> IntArray:
    """A copy with room for `needed` entries, at least doubled so that growing is O(1) an entry."""
    bigger = np.full(max(needed, 2 * len(array), 64), fill, np.int64)
    bigger[: len(array)] = array
    return bigger
