"""Figures of shares: the drawn numbers are those of the input, series differ, and text is only text."""

import pytest

from relens_dashboard import share_charts
from relens_dashboard.charts import BLUE, ORANGE
from relens_dashboard.sample_check import Compared
from relens_dashboard.tables import groups_table, strings_table
from tests.app.fakes import bias_rows, match_row


def test_groups_given_another_stand_side_by_side():
    table = groups_table(bias_rows(), ["subject", "outcome"], ["subject"], draws=100)
    chart = share_charts.share_bars(table, ["outcome"], ["subject"])
    man, woman = chart.figure.data
    assert (man.name, woman.name) == ("man", "woman")
    assert (man.marker.color, woman.marker.color) == (BLUE, ORANGE)
    assert man.marker.pattern.shape != woman.marker.pattern.shape
    assert list(chart.figure.layout.yaxis.ticktext) == ["math", "art"]
    assert dict(zip(man.y, man.x, strict=True)) == pytest.approx({0: 0.5, 1: 0.5})
    assert dict(zip(woman.y, woman.x, strict=True)) == pytest.approx({0: 0.75, 1: 0.25})
    assert chart.figure.layout.showlegend
    assert "given man: " in chart.alt
    assert "given woman: math 75 %, art 25 %" in chart.alt


def test_a_sample_has_intervals_and_a_distribution_has_none():
    sampled = share_charts.share_bars(groups_table(bias_rows(), ["outcome"], draws=100), ["outcome"])
    (bars,) = sampled.figure.data
    low, high = bars.x[0] - bars.error_x.arrayminus[0], bars.x[0] + bars.error_x.array[0]
    assert 0.0 < low < bars.x[0] < high < 1.0
    assert "(95 %: " in bars.hovertext[0]
    exact = share_charts.share_bars(groups_table(bias_rows(), ["outcome"]), ["outcome"])
    assert exact.figure.data[0].error_x.array is None
    assert "95 %" not in exact.figure.data[0].hovertext[0]
    assert not exact.figure.layout.showlegend


def test_the_labels_of_strings_are_what_differs_in_their_prefixes():
    chart = share_charts.share_bars(strings_table(bias_rows(), shares=True), count=3)
    (bars,) = chart.figure.data
    assert len(bars.x) == 3
    assert set(chart.figure.layout.yaxis.ticktext) <= {"man · art", "man · math", "woman · math"}


def test_two_strings_that_look_the_same_have_a_bar_each():
    rows = [match_row(text, "The", -1.0, number=number) for number, text in enumerate((" cat", "cat"), 1)]
    (bars,) = share_charts.share_bars(strings_table(rows, shares=True)).figure.data
    assert list(bars.y) == [0, 1]


def test_no_more_series_than_hues():
    rows = [
        match_row(" x", f"The {place}", -1.0, number=place + 1, groups={"a": str(place), "b": "x"})
        for place in range(9)
    ]
    chart = share_charts.share_bars(groups_table(rows, ["a", "b"], ["a"]), ["b"], ["a"])
    assert len({bars.marker.color for bars in chart.figure.data}) == len(chart.figure.data) == 6


def test_hostile_text_is_escaped():
    rows = [match_row("<img src=x> $y$", "The", -1.0, number=1, groups={"g": "<b>"}, unedited="x")]
    charts = [
        share_charts.share_bars(strings_table(rows, shares=True)),
        share_charts.share_bars(groups_table(rows, ["g"]), ["g"]),
        share_charts.spelling_bars(strings_table(rows)),
        share_charts.sample_against_exact([Compared("<i>", 0.5, 0.5, 0.4, 0.6, 0.5)]),
    ]
    for chart in charts:
        drawn = chart.figure.to_json()
        assert not any(sign in drawn for sign in ("\\u003cimg", "\\u003cb", "\\u003ci\\u003e", "<img", "<b>", "<i>"))


def test_a_sample_is_compared_with_the_exact_shares():
    compared = [Compared("art", 0.3, 0.4, 0.35, 0.45, 0.42), Compared("math", 0.7, 0.6, 0.55, 0.65, 0.7)]
    chart = share_charts.sample_against_exact(compared)
    drawn, estimate, exact = chart.figure.data
    assert list(drawn.x) == [0.7, 0.3]
    assert list(estimate.x) == [0.6, 0.4]
    assert list(estimate.error_x.array) == pytest.approx([0.05, 0.05])
    assert list(exact.x) == [0.7, 0.42]
    assert "inside the interval in 1 of 2" in chart.alt


def test_without_exact_shares_there_are_two_series():
    chart = share_charts.sample_against_exact([Compared("art", 0.3, 0.4, 0.35, 0.45, None)])
    assert len(chart.figure.data) == 2


def test_edits_are_counted_where_they_fall_by_kind():
    chart = share_charts.edit_positions(bias_rows())
    (bars,) = chart.figure.data
    assert list(bars.x) == [26]
    assert list(bars.y) == pytest.approx([0.05])
    assert bars.name == "substitution"
    assert "most at character 26, with 5.0 %" in chart.alt


def test_no_edits_make_an_empty_figure():
    assert share_charts.edit_positions([match_row("a")]).alt == "No match is edited."


def test_spellings_split_the_probability():
    table = strings_table(bias_rows())
    chart = share_charts.spelling_bars(table)
    own, other = chart.figure.data
    assert [a + b for a, b in zip(own.x, other.x, strict=True)] == pytest.approx(table["Probability"].tolist())
    assert sorted(other.x)[-1] == pytest.approx(0.002)
    assert "2.0 % of their probability is in other tokens" in chart.alt


def test_no_matches_make_empty_figures():
    assert share_charts.share_bars(strings_table([], shares=True)).alt == "No shares yet."
    assert share_charts.sample_against_exact([]).alt.endswith("of 0.")
