"""The batch sizer against machines of which the knee is known."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.models.batching import CEILINGS, BatchSizer


def machine(overhead: float, per_node: float, width: int) -> Callable[[int], float]:
    """Seconds for n nodes: a fixed cost, then `width` nodes for the price of one."""
    return lambda count: overhead + per_node * -(-count // width)


def settle(sizer: BatchSizer, seconds: Callable[[int], float], forwards: int = 50) -> int:
    for _ in range(forwards):
        sizer.observe(sizer.size, seconds(sizer.size))
    return sizer.size


def best(seconds: Callable[[int], float], ceiling: int) -> int:
    """The definition, written down: double while that raises the rate by 5 %."""
    size = 1
    while size < ceiling and (2 * size / seconds(2 * size)) >= 1.05 * (size / seconds(size)):
        size *= 2
    return size


@given(
    st.floats(0.0, 0.1),
    st.floats(1e-4, 0.1),
    st.integers(0, 8).map(lambda power: 1 << power),
    st.sampled_from(["cpu", "cuda"]),
)
def test_finds_the_knee_from_below(overhead: float, per_node: float, width: int, device: str) -> None:
    seconds = machine(overhead, per_node, width)
    sizer = BatchSizer(device)
    assert settle(sizer, seconds) == best(seconds, CEILINGS[device])


def test_comes_down_from_a_start_that_is_too_large() -> None:
    # Beyond 8 every doubling more than doubles the time: memory is thrashing.
    sizer = BatchSizer("cpu", start=64)
    seconds: Callable[[int], float] = lambda count: 0.01 + 0.001 * count + 0.0005 * max(0, count - 8) ** 2  # noqa: E731
    for size in (8, 16, 32):
        sizer.observe(size, seconds(size))
    assert settle(sizer, seconds) == 8


@pytest.mark.parametrize(("device", "ceiling"), [("cpu", 64), ("cuda:1", 1024), ("meta", 64)])
def test_never_passes_the_ceiling(device: str, ceiling: int) -> None:
    sizer = BatchSizer(device)
    assert settle(sizer, lambda count: 1.0) == ceiling
    assert BatchSizer(device, start=1 << 20).size == ceiling


def test_one_slow_forward_is_forgiven() -> None:
    sizer = BatchSizer("cpu")
    seconds = machine(0.05, 0.001, 1)
    settle(sizer, seconds, 3)
    sizer.observe(sizer.size, 60.0)
    assert sizer.size < 8
    assert settle(sizer, seconds, 500) == best(seconds, 64)


def test_other_sizes_and_nonsense_change_nothing_at_once() -> None:
    sizer = BatchSizer("cpu", start=4)
    sizer.observe(0, 1.0)
    sizer.observe(4, 0.0)
    sizer.observe(64, 0.1)
    sizer.observe(1, 0.1)
    assert sizer.size == 4
