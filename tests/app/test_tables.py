"""The table of matches: the numbers of the rows, under names that a person understands."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens_dashboard.tables import (
    COLUMN_HELP,
    HIDDEN,
    continuation,
    group_column,
    groups_table,
    matches_table,
    shown_text,
    shown_value,
    strings_table,
)
from tests.app.fakes import bias_rows, match_row


def numbered(*rows):
    return [{**row, "number": number} for number, row in enumerate(rows, 1)]


def test_one_line_an_encoding():
    rows = numbered(
        match_row(" cat", "The", -1.0),
        match_row(" dog", "The", -2.0),
        match_row(" cat", "The", -3.0, canonical=False),
    )
    table = matches_table(rows)
    assert list(table["Text"]) == ["cat", "dog", "cat"]
    assert list(table["number"]) == list(table["#"]) == [1, 2, 3]
    assert table["Probability"].tolist() == pytest.approx([math.exp(-1), math.exp(-2), math.exp(-3)])
    assert table["Model"].tolist() == pytest.approx([math.exp(-1.5), math.exp(-2.5), math.exp(-3.5)])
    assert list(table["Canonical"]) == [True, True, False]
    assert list(table["Tokens"]) == [2, 2, 2]
    assert not {"Prefix", "Edits", "Draws", "Share"} & set(table)


def test_one_line_a_string_adds_its_encodings_up():
    rows = numbered(
        match_row(" cat", "The", -1.0, canonical=False),
        match_row(" dog", "The", -2.0),
        match_row(" cat", "The", -3.0),
    )
    table = strings_table(rows)
    assert list(table["Text"]) == ["cat", "dog"]
    assert list(table["number"]) == [1, 2]
    assert list(table["Encodings"]) == [2, 1]
    assert table["Probability"].tolist() == pytest.approx([math.exp(-1) + math.exp(-3), math.exp(-2)])
    assert table["log P decoder"].tolist() == pytest.approx([math.log(math.exp(-1) + math.exp(-3)), -2.0])
    assert table["Canonical share"].tolist() == pytest.approx([math.exp(-3) / (math.exp(-1) + math.exp(-3)), 1.0])


def test_strings_of_a_sample_are_in_the_order_of_their_shares():
    table = strings_table(bias_rows(), shares=True, draws=100)
    assert table["Share"].tolist() == pytest.approx([0.3, 0.3, 0.25, 0.1, 0.05])
    assert sorted(table["Draws"]) == [5, 10, 25, 30, 30]
    assert (table["low"] < table["Share"]).all()
    assert (table["Share"] < table["high"]).all()
    assert table.loc[table["Draws"] == 10, "number"].tolist() == [4]
    assert table["95 %"].str.match(r"[\d.]+ % to [\d.]+ %").all()


def test_strings_of_a_distribution_have_exact_shares():
    table = strings_table(bias_rows(), shares=True)
    assert table["low"].tolist() == pytest.approx(table["Share"].tolist())
    assert table["high"].tolist() == pytest.approx(table["Share"].tolist())
    assert not {"Draws", "95 %"} & set(table)


def test_named_groups_and_edits_are_columns():
    for table in (matches_table(bias_rows(), sampled=True), strings_table(bias_rows(), draws=100)):
        assert set(table["subject"]) == {"man", "woman"}
        assert set(table["outcome"]) == {"art", "math"}
        assert sorted(set(table["Edits"])) == ["1 edit: h→s at 26", "none"]
    assert matches_table(bias_rows(), sampled=True)["Weight"].tolist() == [0.1] * 6


def test_groups_are_counted_given_another():
    table = groups_table(bias_rows(), ["subject", "outcome"], ["subject"], draws=100)
    assert list(table.columns[:3]) == ["#", "subject", "outcome"]
    shares = {(row["subject"], row["outcome"]): row["Share"] for _, row in table.iterrows()}
    assert shares == pytest.approx(
        {("man", "art"): 0.5, ("man", "math"): 0.5, ("woman", "art"): 0.25, ("woman", "math"): 0.75}
    )
    assert table.groupby("subject")["Share"].sum().tolist() == pytest.approx([1.0, 1.0])
    strings = {(row["subject"], row["outcome"]): row["Strings"] for _, row in table.iterrows()}
    assert strings[("man", "math")] == 2


def test_groups_by_themselves_are_shares_of_all_matches():
    table = groups_table(bias_rows(), ["outcome"])
    assert dict(zip(table["outcome"], table["Share"], strict=True)) == pytest.approx({"art": 0.4, "math": 0.6})
    assert list(table["outcome"]) == ["math", "art"]


def test_values_that_are_no_text_have_words():
    assert shown_value("") == "(none)"
    assert shown_value(None) == "(unclear)"
    assert shown_value(" art") == "art"


def test_a_group_cannot_take_the_name_of_another_column():
    rows = numbered(match_row(" a", "The", groups={"Text": "a", "number": "b"}))
    table = matches_table(rows)
    assert list(table["number"]) == [1]
    assert list(table[group_column("Text")]) == ["a"]
    assert list(table[group_column("number")]) == ["b"]


def test_the_prefix_is_a_column_where_it_varies():
    rows = numbered(match_row(" art", "The man", -1.0), match_row(" art", "The woman", -1.5))
    for table in (matches_table(rows), strings_table(rows)):
        assert list(table["Prefix"]) == ["The man", "The woman"]
        assert list(table["Text"]) == ["art", "art"]


def test_every_column_is_explained():
    tables = [matches_table(bias_rows(), sampled=True), strings_table(bias_rows(), shares=True, draws=100)]
    tables.append(groups_table(bias_rows(), ["subject", "outcome"], draws=100))
    for table in tables:
        assert set(table.columns) - set(HIDDEN) - {"subject", "outcome"} <= set(COLUMN_HELP)


def test_no_rows_make_an_empty_table():
    assert len(matches_table([])) == len(strings_table([])) == len(groups_table([], [])) == 0


@given(st.text(max_size=30))
def test_a_cell_is_one_line_and_keeps_its_letters(text):
    shown = shown_text(text)
    assert "\n" not in shown
    assert [letter for letter in shown if letter.isalnum()] == [letter for letter in text if letter.isalnum()]


def test_blanks_at_the_ends_are_visible():
    assert shown_text(" cat") == "cat"
    assert shown_text("  cat ") == "␣␣cat␣"
    assert shown_text(" ") == "␣"
    assert shown_text("a\nb") == "a↵b"


def test_the_continuation_is_what_follows_the_prefix():
    assert continuation(match_row(" cat", "The")) == " cat"
    assert continuation(match_row("cat")) == "cat"
