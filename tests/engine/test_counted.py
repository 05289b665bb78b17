"""One thing is counted otherwise than several."""

from __future__ import annotations

import pytest

from engine.counted import counted


@pytest.mark.parametrize(
    ("number", "nouns", "told"),
    [
        (0, ("word",), "0 words"),
        (1, ("word",), "1 word"),
        (2, ("word",), "2 words"),
        (1, ("reply", "replies"), "1 reply"),
        (12_345, ("reply", "replies"), "12,345 replies"),
    ],
)
def test_one_and_several(number, nouns, told):
    assert counted(number, *nouns) == told
