"""Shares in words."""

from __future__ import annotations

import pytest

from engine.percent import percent


@pytest.mark.parametrize(
    ("share", "decimals", "text"), [(0.3104, 0, "31 %"), (0.3104, 1, "31.0 %"), (0.0, 0, "0 %"), (1.0, 2, "100.00 %")]
)
def test_a_share_has_a_space_before_its_sign(share, decimals, text):
    assert percent(share, decimals) == text
