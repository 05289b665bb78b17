"""The two-tier frontier against one heap."""

from __future__ import annotations

import heapq

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.traversal.frontier import Frontier

operations = st.lists(
    st.one_of(
        st.tuples(st.sampled_from([0.0, 0.5, 0.5, 1.25, 2.0, 3.0]) | st.floats(0, 4), st.integers(-50, 50)), st.none()
    ),
    max_size=200,
)


@settings(max_examples=300, deadline=None)
@given(operations, st.sampled_from([1, 2, 5]))
def test_pops_in_the_order_of_one_heap(steps, refill):
    frontier, heap = Frontier(refill), []
    for step in steps:
        if step is not None:
            frontier.push(*step)
            heapq.heappush(heap, step)
        elif heap:
            assert frontier.pop() == heapq.heappop(heap)
        assert len(frontier) == len(heap)
    while heap:
        assert frontier.pop() == heapq.heappop(heap)


def test_empty():
    frontier = Frontier()
    with pytest.raises(IndexError):
        frontier.pop()


@given(
    entries=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 50)), max_size=60),
    taken=st.integers(0, 30),
    count=st.integers(0, 70),
)
def test_the_least_entries_are_the_next_pops_and_stay(entries, taken, count):
    frontier = Frontier(refill=4)
    for cost, item in entries:
        frontier.push(float(cost), item)
    for _ in range(min(taken, len(entries))):
        frontier.pop()
    size = len(frontier)
    looked = frontier.least(count)
    assert len(frontier) == size
    assert looked == [frontier.pop() for _ in range(min(count, size))]
