"""Exact sums against fractions."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from relens.traversal.mass import ExactSum, MassBounds


@given(st.lists(st.floats(-1e6, 1e6, allow_subnormal=False)))
def test_sum_is_exact(values):
    total = ExactSum()
    for value in values:
        total.add(value)
    assert total.value == float(sum((Fraction(value) for value in values), Fraction(0)))


def test_a_tiny_mass_survives_large_ones():
    bounds = MassBounds()
    bounds.open(1.0, 3e-17)
    bounds.find(1e-17)
    assert bounds.found == 1e-17
    assert abs(bounds.remaining - 2e-17) < 1e-30
