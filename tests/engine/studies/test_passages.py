"""Passages: the parts are the text again, and errors name the line."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.errors import LimitError, QueryError, RelensError
from relens.studies import passages as module
from relens.studies.passages import own_passages, passages_of_lines, read_passages, split_passage


@pytest.mark.parametrize(
    ("text", "gap", "word", "ending"),
    [
        ("I can make it there on my own, Shane", " ", "Shane", ""),
        ("“Where is it?” he asked of the dog.”", " ", "dog", '."'),
        ('He said: "No!"', ' "', "No", '!"'),
        ("It is o’clock", " ", "o'clock", ""),
        ("One\n\ntwo...", "\n\n", "two", "..."),
    ],
)
def test_the_last_word_stands_apart(text, gap, word, ending):
    passage = split_passage(text)
    assert (passage.gap, passage.word, passage.ending) == (gap, word, ending)
    assert passage.text == re.sub("[“”]", '"', text).replace("’", "'")


@given(st.text(max_size=60))
def test_the_parts_are_the_text(text):
    try:
        passage = split_passage(text)
    except RelensError:
        return
    plain = text
    for typographic, quote in [("“", '"'), ("”", '"'), ("„", '"'), ("``", '"'), ("''", '"'), ("‘", "'"), ("’", "'")]:
        plain = plain.replace(typographic, quote)
    assert passage.text == plain.strip() or "'" in plain  # the order of replacement tells with quotes side by side
    assert passage.word[0].isalnum()
    assert passage.word[-1].isalnum()
    assert not any(character.isspace() for character in passage.word)
    assert not any(character.isalnum() for character in passage.ending)
    assert not any(character.isalnum() for character in passage.gap)
    assert passage.can_be_answered == all(character.isascii() and character.isalpha() for character in passage.word)


def test_context_words_are_words():
    passage = split_passage("Shane's dog saw that they'll go; the dog saw naïve x2 Shane")
    assert passage.context_words == ("Shane", "dog", "saw", "that", "they", "go", "the")


def test_lines_are_plain_or_json():
    assert [passage.word for passage in passages_of_lines(["a b\n", "\n", "c {d}\n"])] == ["b", "d"]
    lines = [json.dumps({"text": "one two", "domain": None}), "", json.dumps({"text": "three\nfour."})]
    assert [passage.word for passage in passages_of_lines(lines)] == ["two", "four"]
    assert len(passages_of_lines(["a b"] * 10, count=4)) == 4


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["a b", "c"], "Line 2 .* nothing before"),
        (["a b", "", "... !"], "Line 3 .* does not end with a word"),
        (['{"text": "a b"}', "a b"], "Line 2 .* not JSON"),
        (['{"text": "a b"}', "[" * 100_000], "Line 2 .* not JSON"),
        (['{"text": 3}'], 'Line 1 .* "text"'),
        (['{"text": "a b\\ud800"}'], "Line 1 .* surrogate"),
        ([" ", ""], "no passages"),
        (["a " * 20_000 + "b"], "Line 1 .* limit of 20,000"),
    ],
)
def test_an_error_names_the_line(lines, complaint):
    with pytest.raises(RelensError, match=complaint):
        passages_of_lines(lines)


def test_files_are_read_as_far_as_needed(tmp_path):
    path = tmp_path / "passages.txt"
    path.write_bytes(b"\xef\xbb\xbfone two\n" + b"a\xff b\n")
    assert read_passages(path, 1)[0].context == "one"
    with pytest.raises(QueryError, match=r"Line 2 .* UTF-8"):
        read_passages(path)
    path.write_bytes(b"one two\n" + b"x" * (module.MOST_LINE_BYTES + 5))
    with pytest.raises(LimitError, match="Line 2"):
        read_passages(path)
    for nowhere in (tmp_path, tmp_path / "none", "bad\0name"):
        with pytest.raises(QueryError):
            read_passages(nowhere)


def test_too_many_passages_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_PASSAGES", 3)
    assert len(passages_of_lines(["a b"] * 3)) == 3
    with pytest.raises(LimitError, match="more than 3"):
        passages_of_lines(["a b"] * 4)


def test_our_own_passages_can_be_answered_from_their_contexts():
    passages = own_passages()
    assert len(passages) == 40
    assert len({passage.word for passage in passages}) >= 35
    for passage in passages:
        assert passage.can_be_answered
        assert passage.gap == " "
        # The last sentence alone does not give the word away: it is not the word's first occurrence, where it has one.
        assert len(re.split(r"[.!?]\"? ", passage.context)) >= 2
