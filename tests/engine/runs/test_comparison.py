"""Differences of settings, against a walk written another way, and of circumstances."""

from __future__ import annotations

import dataclasses

from hypothesis import given
from hypothesis import strategies as st

from relens.query import Decoding, Query, Sampling
from relens.runs.comparison import ABSENT, circumstances, flattened, settings_of
from relens.runs.specification import SearchSpecification
from tests.app.fakes import FakeStore

LEAVES = (
    st.none() | st.booleans() | st.integers(-2, 2) | st.text("ab", max_size=2) | st.lists(st.integers(), max_size=2)
)
TREES = st.recursive(
    st.dictionaries(st.sampled_from("xyz"), LEAVES, max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("xyz"), LEAVES | inner, max_size=3),
    max_leaves=6,
)


def leaf_at(tree, path):
    for name in path.split("."):
        tree = tree[name]
    return tree


@given(TREES)
def test_every_leaf_is_where_its_path_says(tree):
    leaves = flattened(tree)
    for path, value in leaves.items():
        assert leaf_at(tree, path) == value

    def count(value):
        return sum(map(count, value.values())) if isinstance(value, dict) and value else 1

    assert len(leaves) == (count(tree) if tree else 0)


@given(TREES, TREES)
def test_two_differ_in_a_setting_or_are_the_same(first, second):
    differs = [setting.path for setting in settings_of([first, second]) if setting.differs]
    assert bool(differs) == (repr(flattened(first)) != repr(flattened(second)) and not _same(first, second))
    assert not any(setting.differs for setting in settings_of([first, first]))


def _same(first, second):
    one, other = flattened(first), flattened(second)
    return one.keys() == other.keys() and all(repr(one[path]) == repr(other[path]) for path in one)


def test_a_setting_of_one_run_alone_differs():
    searches = [
        SearchSpecification("m", Query("a", decoding=Decoding(top_k=4))),
        SearchSpecification("m", Query("b", decoding=Decoding(top_k=4)), Sampling(5, seed=1)),
    ]
    changed = {one.path: one.values for one in settings_of([search.to_json() for search in searches]) if one.differs}
    assert changed["query.pattern"] == ("a", "b")
    assert changed["traversal.seed"] == (ABSENT, 1)
    assert "query.decoding.top_k" not in changed


def test_lists_of_objects_are_laid_flat():
    assert flattened({"a": [{"x": 1}, {"x": 2}], "b": [1, 2], "c": {}}) == {
        "a.1.x": 1,
        "a.2.x": 2,
        "b": [1, 2],
        "c": {},
    }


def test_circumstances():
    store = FakeStore()
    run = store.get(store.submit(SearchSpecification("m", Query("a"))))
    done = dataclasses.replace(run, status="done", model_fingerprint="f", versions={"torch": "2", "python": "3"})
    same = circumstances([done, done])
    assert (same.models, same.fingerprints, same.versions, same.unfinished, same.imported) == (True, True, (), (), ())
    other = dataclasses.replace(
        done, model_fingerprint="g", versions={"torch": "1", "relens": "1"}, status="stopped", origin={"id": "x"}
    )
    changed = circumstances([done, other, dataclasses.replace(done, model="n", model_fingerprint="h")])
    assert (changed.models, changed.fingerprints, changed.versions) == (False, False, ("torch",))
    assert (changed.unfinished, changed.imported) == ((1,), (1,))
    # Another model has another fingerprint; that says nothing.
    assert circumstances([done, dataclasses.replace(done, model="n", model_fingerprint="h")]).fingerprints
    assert circumstances([done, dataclasses.replace(done, model_fingerprint=None)]).fingerprints
