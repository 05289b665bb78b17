"""Singular and plural."""

from __future__ import annotations

import pytest

from relens.counted import counted


@pytest.mark.parametrize(
    ("number", "nouns", "text"),
    [
        (0, ("word",), "0 words"),
        (1, ("word",), "1 word"),
        (2, ("word",), "2 words"),
        (1, ("reply", "replies"), "1 reply"),
        (12_345, ("reply", "replies"), "12,345 replies"),
    ],
)
def test_one_and_several(number, nouns, text):
    assert counted(number, *nouns) == text
