"""The batch sizer against machines of which the knee is known."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.models.batching import BatchSizer


def machine(overhead: float, per_node: float, width: int) -> Callable[[int], float]:
    """Seconds for n nodes: a fixed cost, then `width` nodes for the price of one."""
    return lambda count: overhead + per_node * -(-count // width)


def grow(sizer: BatchSizer, seconds: Callable[[int], float], forwards: int = 60) -> int:
    """A search whose frontier doubles every few forwards."""
    for forward in range(forwards):
        size = min(sizer.size, 1 << (forward // 4))
        sizer.observe(size, seconds(size))
    return sizer.size


def rate(seconds: Callable[[int], float], size: int) -> float:
    return size / seconds(size)


@given(
    st.floats(1e-3, 0.1),
    st.floats(1e-4, 0.1),
    st.integers(0, 6).map(lambda power: 1 << power),
    st.sampled_from(["cpu", "cuda"]),
)
def test_finds_the_knee_on_the_way_up(overhead: float, per_node: float, width: int, device: str) -> None:
    seconds = machine(overhead, per_node, width)
    size = grow(BatchSizer(device), seconds)
    # Where doubling gains less than 5 %, all that lies above gains little more; and half the size is worse by 5 %.
    assert all(rate(seconds, size) * 1.15 > rate(seconds, 1 << power) for power in range(11) if 1 << power <= 64)
    assert size == 1 or rate(seconds, size // 2) * 1.05 <= max(rate(seconds, size), rate(seconds, size * 2))


def test_grows_with_the_frontier_until_it_knows_better() -> None:
    sizer = BatchSizer("cpu")
    assert sizer.size == sizer.ceiling == 64
    assert grow(sizer, lambda count: 1.0) == 64


@pytest.mark.parametrize(("device", "ceiling"), [("cpu", 64), ("cuda:1", 1024), ("meta", 64)])
def test_never_passes_the_ceiling(device: str, ceiling: int) -> None:
    sizer = BatchSizer(device)
    sizer.observe(10 * ceiling, 1.0)
    assert grow(sizer, lambda count: 1.0) == ceiling


def test_one_slow_forward_changes_nothing() -> None:
    seconds = machine(0.05, 0.001, 1)
    sizer = BatchSizer("cpu")
    settled = grow(sizer, seconds)
    sizer.observe(settled, 60.0)
    assert sizer.size == settled


def test_larger_sizes_get_another_chance() -> None:
    sizer = BatchSizer("cpu")
    assert grow(sizer, machine(0.0, 0.01, 8)) == 8
    assert grow(sizer, machine(0.05, 0.0001, 1), 400) == 64


def test_oversized_forwards_count_towards_another_chance() -> None:
    sizer = BatchSizer("cpu")
    assert grow(sizer, machine(0.0, 0.01, 8)) == 8
    quicker = machine(0.05, 0.0001, 1)
    for _ in range(400):  # a chain of forced tokens comes along with every forward
        sizer.observe(2 * sizer.size, quicker(2 * sizer.size))
    assert sizer.size == 64


def test_nonsense_is_ignored() -> None:
    sizer = BatchSizer("cpu")
    sizer.observe(0, 1.0)
    sizer.observe(4, 0.0)
    assert sizer.size == 64
