"""Word lists: their words, and complaints that repeat none of these."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.errors import LimitError, QueryError, RelensError
from relens.studies.word_lists import LONGEST_WORD, MILD_WORDS, MOST_WORDS, key_of, read_words


def test_the_built_in_list_reads_back():
    assert read_words("\n".join(MILD_WORDS)) == MILD_WORDS


def test_words_of_a_list():
    assert read_words("# remark\r\n  Jerk \n\njerk\nhalf-wit\nne'er-do-well\nblöd\n") == (
        "Jerk", "half-wit", "ne'er-do-well", "blöd",
    )  # fmt: skip
    assert read_words(b"\xef\xbb\xbfjerk\n") == ("jerk",)
    assert read_words("\ufeffjerk") == ("jerk",)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The word list has no words; write one on each line."),
        ("# nothing\n", "The word list has no words; write one on each line."),
        (
            "jerk\ntwo words",
            "Line 2 of the word list is not one word of letters and digits; put one word on each line.",
        ),
        ("j.*k", "Line 1 of the word list is not one word of letters and digits; put one word on each line."),
        ("-jerk", "Line 1 of the word list is not one word of letters and digits; put one word on each line."),
        (b"jerk\nj\xffrk", "Line 2 of the word list is not UTF-8 text."),
        (
            "x" * (LONGEST_WORD + 1),
            f"Line 1 of the word list is {LONGEST_WORD + 1} characters long; a word has at most {LONGEST_WORD}.",
        ),
    ],
)
def test_complaints(text, sentence):
    with pytest.raises(QueryError) as caught:
        read_words(text)
    assert caught.value.sentence == sentence


def test_too_many():
    fits = "\n".join(f"w{number}" for number in range(MOST_WORDS))
    assert len(read_words(fits)) == MOST_WORDS
    with pytest.raises(LimitError):
        read_words(fits + "\nmore")


@given(st.one_of(st.text(), st.binary()))
def test_any_list_is_read_or_refused(text):
    try:
        words = read_words(text)
    except RelensError:
        return
    assert read_words("\n".join(words)) == words
    assert len({key_of(word) for word in words}) == len(words)
