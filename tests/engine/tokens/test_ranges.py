"""Ranges in a row against a loop."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from relens.tokens.ranges import expand


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 6))))
def test_expand_is_the_loop(ranges):
    low, size = np.array([low for low, _ in ranges], np.int64), np.array([size for _, size in ranges], np.int64)
    owner, element = expand(low, size)
    expected = [(index, value) for index, (begin, count) in enumerate(ranges) for value in range(begin, begin + count)]
    assert list(zip(owner.tolist(), element.tolist(), strict=True)) == expected
