"""The cutting of text into words: the examples of the Penn Treebank, and that nothing is lost or cut twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.triggers.words import words_of_cut_text, words_of_text

TEXTS = st.text(
    st.sampled_from(list("abcdent sd'n.!?,-_<>/:1 2\t\n\"()é’U…@&+")) | st.characters(codec="utf-8"), max_size=40
) | st.lists(st.sampled_from(["don't", "n't", "'s", "it's", "u.s.", "a.b", "www.a.org", "<unk>", "1,0"])).map("".join)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't", "do n't"),
        ("CAN'T won’t isn't", "ca n't wo n't is n't"),
        ("I'm he's they're we've she'll you'd", "i 'm he 's they 're we 've she 'll you 'd"),
        ("the dogs' o'clock rock'n'roll", "the dogs ' o'clock rock'n'roll"),
        ("shouldn't've", "should n't 've"),
        ("Well... what?! No--never!!", "well ... what ? ! no -- never !!"),
        ("1,000.50 at 4:30 (maybe), 3.", "1,000.50 at 4:30 ( maybe ) , 3 ."),
        ("a well-known U.S. film, e.g. this", "a well-known u.s. film , e.g. this"),
        ("see http://a.org/b?c=1, or www.b.com.", "see http://a.org/b?c=1 , or www.b.com ."),
        ("nigeria,and this.That", "nigeria , and this . that"),
        ("“quoted” – dash…", '" quoted " - dash ...'),
        ("<unk> <eou> <3", "<unk> <eou> < 3"),
        (" \n\t ", ""),
        ("", ""),
    ],
)
def test_texts_are_cut_as_in_the_treebank(text, words):
    assert " ".join(words_of_text(text)) == words


def test_a_long_line_of_dotted_letters_takes_no_longer_than_others():
    # Time squared would be minutes here.
    assert words_of_text("a." * 100_000 + "ab") == (*["a", "."] * 100_000, "ab")


@given(TEXTS)
def test_what_is_cut_stays_as_it_is(text):
    words = words_of_text(text)
    assert words_of_text(" ".join(words)) == words
    assert words_of_cut_text(" ".join(words)) == words


@given(st.text(st.sampled_from(list("abcdent sd'n.!?,-<>/:12\t\n\"()é@&+")), max_size=60))
def test_nothing_is_lost_but_blanks(text):
    assert "".join(words_of_text(text)) == "".join(text.split()).lower()


def test_a_hostile_text_takes_no_longer_than_its_length_asks_for():
    for piece in ("n't", "a-", "a'", "1,", "a.", "'", "www.", "www.,", "<a", "nn'", "a-n"):
        assert words_of_text(piece * 3_000) is not None
