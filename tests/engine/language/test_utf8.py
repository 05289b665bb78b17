from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relens.language.characters import normalise
from relens.language.utf8 import byte_sequences, byte_states

EDGES = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0xFFFF, 0x10000, 0x3FFFF, 0x40000, 0x10FFFF]
codes = st.one_of(st.integers(0, 0x10FFFF), st.sampled_from(EDGES), st.integers(0x7F0, 0x1100))


def inside(data: bytes, low: int, high: int) -> bool:
    shapes = list(byte_sequences(low, high))
    matching = [
        len(shape) == len(data) and all(a <= byte <= b for byte, (a, b) in zip(data, shape, strict=False))
        for shape in shapes
    ]
    assert sum(matching) <= 1, "sequences overlap"
    return any(matching)


@given(first=codes, second=codes, probes=st.lists(codes, max_size=20))
def test_sequences_contain_exactly_the_range(first: int, second: int, probes: list[int]):
    low, high = sorted((first, second))
    neighbours = [low - 1, low, low + 1, high - 1, high, high + 1]
    for code in {*probes, *EDGES, *neighbours} - {-1, 0x110000}:
        if not 0xD800 <= code <= 0xDFFF:
            assert inside(chr(code).encode(), low, high) == (low <= code <= high)


@given(ranges=st.lists(st.tuples(codes, codes).map(sorted).map(tuple), min_size=1, max_size=6), probes=st.lists(codes))
def test_the_automaton_contains_exactly_the_set(ranges: list[tuple[int, int]], probes: list[int]):
    ranges = normalise(ranges)
    states = byte_states(ranges)
    assert states[0] == ()
    assert len(set(states[1:])) == len(states) - 1, "two states that continue alike"
    for code in {*probes, *EDGES, *(bound for pair in ranges for bound in pair)}:
        if 0xD800 <= code <= 0xDFFF:
            continue
        state: int | None = len(states) - 1
        for byte in chr(code).encode():
            state = next((to for low, high, to in states[state] if low <= byte <= high), None) if state else None
        assert (state == 0) == any(low <= code <= high for low, high in ranges)


def test_every_sequence_decodes():
    for shape in byte_sequences(0, 0x10FFFF):
        for corner in (0, 1):
            bytes(pair[corner] for pair in shape).decode()


def test_a_set_of_surrogates_is_empty():
    assert byte_states(((0xD800, 0xDFFF),)) == ((), ())
