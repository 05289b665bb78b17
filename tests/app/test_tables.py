"""The table of matches: the numbers of the rows, under names that a person understands."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.tables import COLUMN_HELP, continuation, matches_table, shown_text
from tests.app.fakes import match_row


def numbered(*rows):
    return [{**row, "number": number} for number, row in enumerate(rows, 1)]


def test_one_line_an_encoding():
    rows = numbered(
        match_row(" cat", "The", -1.0),
        match_row(" dog", "The", -2.0),
        match_row(" cat", "The", -3.0, canonical=False),
    )
    table = matches_table(rows, merged=False)
    assert list(table["Text"]) == ["cat", "dog", "cat"]
    assert list(table["number"]) == list(table["#"]) == [1, 2, 3]
    assert table["Probability"].tolist() == pytest.approx([math.exp(-1), math.exp(-2), math.exp(-3)])
    assert table["Model"].tolist() == pytest.approx([math.exp(-1.5), math.exp(-2.5), math.exp(-3.5)])
    assert list(table["Canonical"]) == [True, True, False]
    assert list(table["Tokens"]) == [2, 2, 2]
    assert "Prefix" not in table


def test_one_line_a_string_adds_its_encodings_up():
    rows = numbered(
        match_row(" cat", "The", -1.0, canonical=False),
        match_row(" dog", "The", -2.0),
        match_row(" cat", "The", -3.0),
    )
    table = matches_table(rows, merged=True)
    assert list(table["Text"]) == ["cat", "dog"]
    assert list(table["number"]) == [1, 2]
    assert list(table["Encodings"]) == [2, 1]
    assert table["Probability"].tolist() == pytest.approx([math.exp(-1) + math.exp(-3), math.exp(-2)])
    assert table["log P decoder"].tolist() == pytest.approx([math.log(math.exp(-1) + math.exp(-3)), -2.0])
    assert list(table["Canonical"]) == [True, True]


def test_the_prefix_is_a_column_where_it_varies():
    rows = numbered(match_row(" art", "The man", -1.0), match_row(" art", "The woman", -1.5))
    for merged in (False, True):
        table = matches_table(rows, merged=merged)
        assert list(table["Prefix"]) == ["The man", "The woman"]
        assert list(table["Text"]) == ["art", "art"]


def test_every_column_is_explained():
    rows = numbered(match_row("a", "x"), match_row("a", "y"))
    for merged in (False, True):
        assert set(matches_table(rows, merged=merged).columns) - {"number"} <= set(COLUMN_HELP)


def test_no_rows_make_an_empty_table():
    assert len(matches_table([], merged=True)) == len(matches_table([], merged=False)) == 0


@given(st.text(max_size=30))
def test_a_cell_is_one_line_and_keeps_its_letters(text):
    shown = shown_text(text)
    assert "\n" not in shown
    assert [letter for letter in shown if letter.isalnum()] == [letter for letter in text if letter.isalnum()]


def test_blanks_at_the_ends_are_seen():
    assert shown_text(" cat") == "cat"
    assert shown_text("  cat ") == "␣␣cat␣"
    assert shown_text(" ") == "␣"
    assert shown_text("a\nb") == "a↵b"


def test_the_continuation_is_what_follows_the_prefix():
    assert continuation(match_row(" cat", "The")) == " cat"
    assert continuation(match_row("cat")) == "cat"
