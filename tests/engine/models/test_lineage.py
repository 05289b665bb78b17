"""Ancestors of many nodes, against walking up from each."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from relens.models.lineage import lineage
from relens.models.scoring import ROOT, TokenTree
from tests.engine.models.tiny import grow

TREES = st.lists(st.tuples(st.integers(0, 9), st.just(0)), min_size=1, max_size=60)


def walk(tree: TokenTree, node: int, include_root: bool) -> set[int]:
    path = set()
    while node != ROOT:
        path.add(node)
        node = int(tree.parents[node])
    return path | {ROOT} if include_root else path


@given(TREES, st.data(), st.booleans())
def test_paths_are_those_of_walking(steps: list[tuple[int, int]], data: st.DataObject, root: bool) -> None:
    tree = TokenTree()
    everything = grow(tree, steps) + ([ROOT] if root else [])
    nodes = np.array(data.draw(st.lists(st.sampled_from(everything), min_size=1, unique=True)), np.int64)
    paths_of = lineage(tree, nodes, root)
    paths = [
        [*paths_of.trunk.tolist(), *paths_of.ancestors[paths_of.rows == row].tolist()] for row in range(len(nodes))
    ]
    expected = [walk(tree, int(node), root) for node in nodes]
    assert [set(path) for path in paths] == expected
    assert all(len(set(path)) == len(path) for path in paths)
    assert paths_of.members().tolist() == sorted(set().union(*expected))
    assert set(paths_of.trunk.tolist()) == set.intersection(*expected), "the trunk is all that is shared"


def test_the_example_of_the_module() -> None:
    tree = TokenTree()
    for parent in (0, 1, 2, 2, 3, 3, 4):
        tree.add(parent, 0)
    shared = lineage(tree, np.array([5, 6, 7]), include_root=True)
    assert shared.trunk.tolist() == [0, 1, 2]
    pairs = sorted(zip(shared.rows.tolist(), shared.ancestors.tolist(), strict=True))
    assert pairs == [(0, 3), (0, 5), (1, 3), (1, 6), (2, 4), (2, 7)]
