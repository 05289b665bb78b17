"""The ancestors of many nodes at once, in numpy.

A new token attends to the tokens on its own path and to nothing else. For the nodes 5, 6 and 7 of

    0 - 1 - 2 - 3 - 5
             \\   \\- 6
              4 - 7

the paths share the trunk 0 1 2; beyond it they are the pairs (row, ancestor)

    row 0 (node 5): 3 5       row 1 (node 6): 3 6       row 2 (node 7): 4 7

All rows walk up together, the deepest first, until they stand on one node; what is above it is the trunk, which a
search with a long literal prefix shares almost entirely. So the cost is O(rows x levels below the trunk) in vectorised
steps, however long the prefix is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from relens.models.scoring import ROOT, TokenTree

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Lineage:
    """Paths of some nodes, each ending in the node itself.

    trunk: nodes on every path, root first, (t,). rows, ancestors: the rest of the paths as pairs, (p,) each; `rows`
    counts positions in the array of nodes.
    """

    trunk: IntArray
    rows: IntArray
    ancestors: IntArray

    def members(self) -> IntArray:
        """Every node of every path once, ascending."""
        return np.concatenate([self.trunk, np.unique(self.ancestors)])


def lineage(tree: TokenTree, nodes: IntArray, include_root: bool) -> Lineage:
    """The paths from the root to each of `nodes` (at least one); the root itself counts only with `include_root`."""
    current = nodes.copy()
    depths = tree.depths[current]
    rows: list[IntArray] = []
    ancestors: list[IntArray] = []
    while (current != current[0]).any():
        deepest = np.flatnonzero(depths == depths.max())
        rows.append(deepest)
        ancestors.append(current[deepest])
        current[deepest] = tree.parents[current[deepest]]
        depths[deepest] -= 1
    empty = np.zeros(0, np.int64)
    return Lineage(
        trunk=_path(tree, int(current[0]), include_root),
        rows=np.concatenate(rows) if rows else empty,
        ancestors=np.concatenate(ancestors) if ancestors else empty,
    )


def _path(tree: TokenTree, node: int, include_root: bool) -> IntArray:
    path: list[int] = []
    parents = tree.parents
    while node != ROOT:
        path.append(node)
        node = int(parents[node])
    if include_root:
        path.append(ROOT)
    return np.array(path[::-1], np.int64)
