"""A sample compared with exact shares: right where all matches were drawn, a reason where too few were."""

import pytest

from relens_dashboard.sample_check import compare
from relens_dashboard.tables import distinct_labels, group_key, groups_table, string_key, strings_table
from tests.app.fakes import bias_rows


def by_strings(rows, **more):
    table = strings_table(rows, shares=True, draws=100)
    return compare(rows, table, distinct_labels(table), string_key, **{"draws": 100, "prefix_by": "strings"} | more)


def test_exact_shares_are_those_of_the_probabilities():
    compared, sentence = by_strings(bias_rows())
    assert "about 100 % of the mass" in sentence
    assert {one.label: one.exact for one in compared} == pytest.approx(
        {"man · art": 0.3, "man · math": 0.25, "man · mats": 0.05, "woman · art": 0.1, "woman · math": 0.3}
    )
    assert sum(one.frequency for one in compared) == pytest.approx(1.0)


def test_shares_given_a_group_are_compared_given_it():
    rows = bias_rows()
    table = groups_table(rows, ["subject", "outcome"], ["subject"], draws=100)
    compared, _ = compare(
        rows,
        table,
        ["".join(key) for key in table["key"]],
        lambda row: group_key(row, ["subject", "outcome"]),
        given=1,
        draws=100,
        prefix_by="strings",
    )
    expected = {"man art": 0.5, "man math": 0.5, "woman art": 0.25, "woman math": 0.75}
    assert {one.label: one.exact for one in compared} == pytest.approx(expected)
    assert {one.label: one.frequency for one in compared} == pytest.approx(expected)


def test_with_too_much_missing_there_is_nothing_to_compare_with():
    # The probabilities of what was found are 0.1 over two prefixes; ten matches were drawn but once, with weight 0.25.
    rows = bias_rows()
    once = [{**rows[0], "token_ids": [1, 2, 90 + place], "count": 1, "weight": 0.25} for place in range(10)]
    once = [{**row, "text": row["text"] + str(place), "decoder_log_prob": -99.0} for place, row in enumerate(once)]
    compared, reason = by_strings([*rows, *once])
    assert all(one.exact is None for one in compared)
    assert "have about 67 % of the mass of all matches" in reason


@pytest.mark.parametrize("prefix_by", ["tokens", "edges"])
def test_prefixes_drawn_unequally_have_no_exact_shares(prefix_by):
    compared, reason = by_strings(bias_rows(), prefix_by=prefix_by)
    assert compared[0].exact is None
    assert "not drawn equally often" in reason


def test_a_prefix_in_several_encodings_has_no_exact_shares():
    rows = bias_rows()
    rows[0] = rows[0] | {"token_ids": [9, 9, 9]}
    assert "several encodings" in by_strings(rows)[1]


def test_draws_that_all_failed_compare_to_nothing():
    assert by_strings([]) == ([], "No match was drawn that could be compared.")
