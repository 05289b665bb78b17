"""Shares and p-values in words."""

from __future__ import annotations

import math

import pytest

from relens.percent import p_text, p_value_text, percent


@pytest.mark.parametrize(
    ("share", "decimals", "text"), [(0.3104, 0, "31 %"), (0.3104, 1, "31.0 %"), (0.0, 0, "0 %"), (1.0, 2, "100.00 %")]
)
def test_a_share_has_a_space_before_its_sign(share, decimals, text):
    assert percent(share, decimals) == text


@pytest.mark.parametrize(("log10_p", "text"), [(0.0, "1"), (-2.0, "0.01"), (-1000.2, "10^-1000"), (-math.inf, "0")])
def test_a_p_value_of_any_size_has_a_text(log10_p, text):
    assert p_value_text(log10_p) == text


def test_a_p_value_that_is_a_float_has_the_same_text():
    assert [p_text(value) for value in (0.0321, 1e-12, 0.0)] == ["0.032", "10^-12", "0"]
