"""The library's own character classes, tried one character at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers

from relens.tokens import character_sets
from relens.tokens.character_sets import contains, digit_set, literal_set, punctuation_set, regex_set

CLASSES = [r"\p{L}", r"\p{N}", r"\s", r"[^\s\p{L}\p{N}]", r"[^\r\n\p{L}\p{N}]"]


@given(st.characters(exclude_categories=["Cs"]), st.sampled_from(CLASSES))
@settings(deadline=None, max_examples=300)
def test_membership_is_the_librarys(character: str, source: str) -> None:
    pieces = pre_tokenizers.Split(Regex(source), "removed").pre_tokenize_str(character)
    assert contains(regex_set(source), np.array([ord(character)]))[0] == (pieces == [])


@given(st.characters(exclude_categories=["Cs"]))
@settings(deadline=None, max_examples=300)
def test_digits_and_punctuation(character: str) -> None:
    code_point = np.array([ord(character)])
    cut = pre_tokenizers.Digits(individual_digits=True).pre_tokenize_str("a" + character + "a")
    assert contains(digit_set(), code_point)[0] == (len(cut) == 3)
    kept = pre_tokenizers.Punctuation("removed").pre_tokenize_str(character)
    assert contains(punctuation_set(), code_point)[0] == (kept == [])


def test_letters_of_either_case() -> None:
    assert [chr(point) for point in range(0x3000) if contains(literal_set("s", True), np.array([point]))[0]] == [*"Ssſ"]
    assert literal_set("s", False).tolist() == [ord("s"), ord("s") + 1]
    assert literal_set("é", False).tolist() == [ord("é"), ord("é") + 1]


def test_a_spoiled_cache_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path))
    monkeypatch.setattr(character_sets, "_VARIED", [(0, 0x250)])
    for cache in (regex_set, character_sets._probe_text):
        cache.cache_clear()
    try:
        expected = regex_set(r"\p{Lu}")
        (path,) = (tmp_path / "character-sets").iterdir()
        for spoiled in (b"", b"\x93NUMPY nonsense"):
            path.write_bytes(spoiled)
            regex_set.cache_clear()
            assert np.array_equal(regex_set(r"\p{Lu}"), expected)
        regex_set.cache_clear()
        assert np.array_equal(regex_set(r"\p{Lu}"), expected)
    finally:
        for cache in (regex_set, character_sets._probe_text):
            cache.cache_clear()
