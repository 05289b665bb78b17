"""Labels read back by `re`."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relens.language.characters import Ranges, category_ranges, complement, normalise
from relens.pictures.labels import (
    characters_label,
    count_characters,
    token_label,
    tokens_label,
    visible,
    visible_bytes,
    without_surrogates,
)


def of(*characters: str) -> Ranges:
    """Ranges from "a" or "a-z"."""
    return normalise((ord(item[0]), ord(item[-1])) for item in characters)


@pytest.mark.parametrize(
    ("ranges", "label"),
    [
        (of("a"), "a"),
        (of(" "), "␣"),
        (of("\n"), r"\n"),
        (of("é"), "é"),
        (of("a", "b"), "[ab]"),
        (of("a-z"), "[a-z]"),
        (of("0-9", "a-z", "A-Z"), "[0-9A-Za-z]"),
        (of("-", "^", "]", "\\"), r"[\-\\-\^]"),
        (of("-"), "-"),
        (complement(of("\n")), r"[^\n]"),
        (of("."), "."),
        (complement(()), "any character"),
        (complement(of("a")), "[^a]"),
        (complement(of(" ", "\n")), r"[^\n␣]"),
        (category_ranges(r"\d", False), r"\d"),
        (category_ranges(r"\w", False), r"\w"),
        (category_ranges(r"\S", False), r"\S"),
        (normalise([*category_ranges(r"\d", False), *of("a-f")]), r"[\da-f]"),
        (normalise([*category_ranges(r"\w", False), *category_ranges(r"\s", False)]), r"[\w\s]"),
        (of(*"acegikmoqsuwyACEGIKMOQ"), "22 characters: A, C, E, …"),
    ],
)
def test_labels_of_characters(ranges, label):
    assert characters_label(without_surrogates(ranges)) == label


characters = st.characters(exclude_categories=["Cs"])


@given(st.sets(characters, min_size=1, max_size=8), st.booleans())
@example({"["}, False)
def test_a_class_label_is_an_expression_of_its_characters(members, negated):
    ranges = normalise((ord(member), ord(member)) for member in members)
    label = characters_label(without_surrogates(complement(ranges) if negated else ranges))
    if not label.startswith("[") or label == "[":  # a character by itself is its own label
        return
    # Signs for white space and marks are for the eye; put back, the label is an expression of Python's.
    expression = re.compile(label.replace("␣", " ").replace("◌", ""))
    for code in {*map(ord, members), *range(0x250), 0x2423, 0x10FFFF, *(ord(member) + 1 for member in members)}:
        if 0xD800 <= code <= 0xDFFF or code > sys.maxunicode or chr(code) in "␣◌ ":
            continue
        assert bool(expression.fullmatch(chr(code))) == ((chr(code) in members) != negated), label


@given(st.text())
def test_visible_text_is_printable_and_keeps_printable_characters(text):
    shown = visible(text)
    assert not any(character.isspace() for character in shown)
    assert all(character.isprintable() for character in shown.replace("◌", ""))
    assert len(shown) >= len(text)


def test_bytes_that_are_no_character_are_shown_as_numbers():
    assert visible_bytes(" café".encode()) == "␣café"
    assert visible_bytes(b"caf\xc3") == r"caf\xc3"
    assert visible_bytes(b"\n\x00") == r"\n\x00"


def test_labels_of_tokens(byte_tokenizer):
    ids = [byte_tokenizer.encode(text)[0] for text in "abc "]
    assert token_label(ids[3], byte_tokenizer) == "␣"
    assert tokens_label(sorted(ids[:3]), byte_tokenizer) == "a, b, c"
    everything = list(range(len(byte_tokenizer.vocabulary.token_bytes)))
    named = ", ".join(token_label(token, byte_tokenizer) for token in everything[:3])
    assert tokens_label(everything, byte_tokenizer) == f"{len(everything):,} tokens: {named}, …"


@given(st.lists(st.tuples(st.integers(0, sys.maxunicode), st.integers(0, 5000)), max_size=5))
def test_counting_leaves_surrogates_out(pairs):
    ranges = normalise((low, min(low + length, sys.maxunicode)) for low, length in pairs)
    kept = without_surrogates(ranges)
    codes = {code for low, high in ranges for code in range(low, high + 1) if not 0xD800 <= code <= 0xDFFF}
    assert count_characters(kept) == len(codes)
    assert all(any(low <= code <= high for low, high in kept) for code in list(codes)[:100])
