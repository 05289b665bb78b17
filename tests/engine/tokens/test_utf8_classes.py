"""The class decoder against Python's own UTF-8."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.tokens.utf8_classes import ClassDecoder, class_decoder

EDGES = np.array([0, 0x41, 0x5B, 0xE9, 0xEA, 0x300, 0x800, 0x4E00, 0xA000, 0x1F600, 0x1F650, 0x10FFFF])
CLASSES = np.array([0, 1, 0, 1, 0, 2, 0, 1, 0, 3, 0, 2])
DECODER = class_decoder(EDGES, CLASSES)


def read(decoder: ClassDecoder, data: bytes) -> list[int] | None:
    """The classes of the characters in `data`, or None where it is not valid or stops inside a character."""
    node, classes = 0, []
    for byte in data:
        if decoder.completes[node, byte] >= 0:
            assert decoder.next_node[node, byte] < 0
            classes.append(int(decoder.completes[node, byte]))
            node = 0
        elif decoder.next_node[node, byte] >= 0:
            node = int(decoder.next_node[node, byte])
        else:
            return None
    return classes if node == 0 else None


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_classes_of_characters(text: str) -> None:
    expected = [int(CLASSES[np.searchsorted(EDGES, ord(character), side="right") - 1]) for character in text]
    assert read(DECODER, text.encode()) == expected


@pytest.mark.parametrize("code_point", [0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x3FFFF, 0x10FFFF])
def test_where_lengths_change(code_point: int) -> None:
    assert read(DECODER, chr(code_point).encode()) is not None


@given(st.binary(max_size=5))
def test_only_valid_utf8(data: bytes) -> None:
    try:
        data.decode()
        is_valid = True
    except UnicodeDecodeError:
        is_valid = False
    assert (read(DECODER, data) is not None) == is_valid


@pytest.mark.parametrize(
    "data", [b"\xed\xa0\x80", b"\xc0\x80", b"\xe0\x80\x80", b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80"]
)
def test_surrogates_and_long_forms(data: bytes) -> None:
    assert read(DECODER, data) is None


def test_nodes_are_shared() -> None:
    assert len(DECODER.next_node) < 40
