"""Strings in a text: the index against Python's own `in`."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.errors import LimitError, QueryError
from relens.studies.membership import Corpus, open_corpus, recent_corpus

FEW = st.text("ab ä", max_size=60)


@given(FEW, FEW)
def test_it_agrees_with_python(text, wanted):
    assert Corpus.of_text(text).contains(wanted) == (wanted != "" and wanted in text)


@given(st.text(max_size=200), st.data())
def test_every_piece_of_a_text_is_in_it(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert Corpus.of_text(text).contains(text[start:end]) == (end > start)


@given(st.integers(0, 24), st.integers(1, 40))
def test_a_string_is_found_wherever_it_lies_in_a_block(before, length):
    wanted = ("0123456789abcdefghij" * 3)[:length]
    corpus = Corpus.of_text("." * before + wanted + "....")
    assert corpus.contains(wanted)
    assert not corpus.contains(wanted[:-1] + "!")
    assert not corpus.contains(wanted + "!")


@given(st.text("ab_ .", max_size=40), st.text("ab_ .", min_size=1, max_size=24))
def test_whole_words_stand_alone(text, wanted):
    left = r"(?<!\w)" if re.match(r"\w", wanted) else ""
    right = r"(?!\w)" if re.match(r"\w", wanted[-1]) else ""
    expected = re.search(left + re.escape(wanted) + right, text) is not None
    assert Corpus.of_text(text).contains(wanted, whole_words=True) == expected


def test_an_address_is_not_found_within_a_longer_one():
    corpus = Corpus.of_text("see https://www.example.com/about, or not")
    assert corpus.contains("https://www.example.co")
    assert not corpus.contains("https://www.example.co", whole_words=True)
    assert corpus.contains("https://www.example.com", whole_words=True)
    assert corpus.contains("https://www.example.com/about", whole_words=True)


def test_a_text_of_one_letter_neither_hangs_nor_lies():
    corpus = Corpus.of_text("a" * 3_000_000)
    assert corpus.contains("a" * 100)
    assert not corpus.contains("a" * 50 + "b" + "a" * 50)
    assert not corpus.contains("ab")
    assert not corpus.contains("\ud800 and more of it, and more")


def test_files_of_a_folder_are_one_corpus(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "one.txt").write_text("the cat sat on the", encoding="utf-8")
    (tmp_path / "deep" / "two.txt").write_text(" mat, wie schön es dort war", encoding="utf-8")
    (tmp_path / "picture.bin").write_bytes(b"\x89\xff\x00 hidden words in a picture")
    (tmp_path / "link.txt").symlink_to("/etc/hostname")
    corpus = open_corpus(tmp_path)
    assert corpus.contains("the cat sat on the")
    assert corpus.contains("wie schön es dort")
    assert not corpus.contains("the cat sat on the mat")  # nothing is found across two files
    assert not corpus.contains("hidden words in a picture")
    assert (corpus.files, corpus.left_out) == (2, ("picture.bin",))


def test_files_that_cannot_be_searched_are_refused_in_a_sentence(tmp_path):
    file = tmp_path / "file.txt"
    with pytest.raises(QueryError, match="There is no file or folder called"):
        open_corpus(file)
    with pytest.raises(QueryError, match="There is no file or folder called"):
        open_corpus("a\0b")
    file.write_bytes(b"")
    with pytest.raises(QueryError, match="is empty"):
        open_corpus(file)
    file.write_bytes("text".encode("utf-16"))
    with pytest.raises(QueryError, match="is not UTF-8 text"):
        open_corpus(file)
    with pytest.raises(QueryError, match="There is no UTF-8 text in the folder"):
        open_corpus(tmp_path)
    file.write_text("more than ten bytes")
    for path in (file, tmp_path):
        with pytest.raises(LimitError, match="larger than"):
            open_corpus(path, most_bytes=10)


def test_a_corpus_is_read_again_only_where_its_files_have_changed(tmp_path):
    file = tmp_path / "file.txt"
    file.write_text("the cat sat on the mat")
    for path in (file, tmp_path):
        first = recent_corpus(path)
        assert recent_corpus(path) is first
        file.write_text(file.read_text() + ", and the dog")
        second = recent_corpus(path)
        assert second is not first
        assert second.contains("and the dog")
    with pytest.raises(QueryError, match="There is no file"):
        recent_corpus(tmp_path / "nothing")
