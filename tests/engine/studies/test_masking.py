"""Masks hide words and all their spellings one edit away."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from relens.studies.masking import DOT, Masker, mask_word
from relens.studies.word_lists import MILD_WORDS

MASKER = Masker(["idiot", "jerk", "half-wit"])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("You are such an idiot.", "You are such an i····."),
        ("An IDIOT and a jerk!", "An I···· and a j···!"),
        ("such an id*iot!", "such an i·····!"),
        ("Two idiots and an i diot", "Two i····s and an i ····"),
        ("idio, jrk and j3rk", "i····" + " j·· and j···"),
        ("a half-wit, a halfwit", "a h·······, a h······"),
        ("He lit the idol in the park.", "He lit the idol in the park."),
        ("", ""),
    ],
)
def test_masked_texts(text, shown):
    assert MASKER(text) == shown


def test_a_word_alone():
    assert [mask_word(word) for word in ("", "x", "idiot", "i diot")] == ["", "x", "i····", "i ····"]


def test_no_words_mask_nothing():
    assert Masker([])("idiot") == "idiot"


def test_either_apostrophe():
    assert Masker(["ne'er-do-well"])("A ne’er-do-well.") == "A n············."


def edited(word: str) -> st.SearchStrategy[str]:
    """The word after at most one edit."""
    places = st.integers(0, len(word))
    characters = st.characters(min_codepoint=32, max_codepoint=126)

    def edit(place: int, character: str, operation: str) -> str:
        if operation == "insertion":
            return word[:place] + character + word[place:]
        return word[:place] + (character if operation == "substitution" else "") + word[place + 1 :]

    return st.builds(edit, places, characters, st.sampled_from(["insertion", "deletion", "substitution"]))


@given(st.data(), st.sampled_from(MILD_WORDS), st.sampled_from(["", "You are a ", '"', "Oh, you "]))
def test_all_spellings_one_edit_away_are_masked(data, word, before):
    spelled = data.draw(edited(word))
    assert Levenshtein.distance(word, spelled) <= 1
    shown = Masker([word])(f"{before}{spelled} there")
    assert len(shown) == len(before) + len(spelled) + len(" there")
    letters = [letter for letter in shown[len(before) : len(before) + len(spelled)] if letter.isalpha()]
    # The first letter stays, and one that was written before or behind the word.
    assert len(letters) <= 2


@given(st.text(alphabet="abc de'.\n", max_size=60))
def test_other_text_stays(text):
    assert Masker(["stupid"])(text) == text


@given(st.text(max_size=60), st.lists(st.sampled_from(MILD_WORDS), max_size=3))
def test_masks_keep_the_length_and_change_nothing_twice(text, words):
    masker = Masker(words)
    shown = masker(text)
    assert len(shown) == len(text)
    assert all(after in (before, DOT) for before, after in zip(text, shown, strict=True))


def test_rows_are_masked_at_any_depth_and_nothing_else_is():
    row = {
        "row": "answer", "variant": "idiot", "sentence": "An idiot.", "found": None, "matches": 3,
        "matches_shown": [{"text": "a jerk", "edits": [{"written": "j"}]}], "prompt": "An",
    }  # fmt: skip
    shown = next(MASKER.rows([row]))
    assert shown == {
        **row, "sentence": "An i····.", "matches_shown": [{"text": "a j···", "edits": [{"written": "j"}]}],
    }  # fmt: skip
    assert row["sentence"] == "An idiot."


def test_a_word_in_pieces_is_masked():
    assert MASKER.pieces([" An", " id", "iot", "", "!"]) == [" An", " i·", "···", "", "!"]
    row = {"trigger_tokens": [" id", "iot"], "target_tokens": [], "triggers": {"idiot": "i d"}, "missed": ["jerk"]}
    assert next(MASKER.rows([row])) == {
        "trigger_tokens": [" i·", "···"], "target_tokens": [], "triggers": {"i····": "i d"}, "missed": ["j···"],
    }  # fmt: skip
