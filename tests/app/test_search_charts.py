"""Figures: the drawn numbers are those of the input, and text is only text."""

import math

from relens_dashboard import search_charts
from relens_dashboard.charts import BLUE, RED
from relens_dashboard.tables import matches_table
from tests.app.fakes import match_row


def rows(*texts):
    return [
        {**match_row(text, "The", -float(number), canonical=number % 2 == 1), "number": number, "seconds": number / 10}
        for number, text in enumerate(texts, 1)
    ]


def test_bars_show_the_best_matches_in_order():
    table = matches_table(rows(" cat", " dog", " cow"))
    chart = search_charts.probability_bars(table, count=2)
    (bars,) = chart.figure.data
    assert list(bars.x) == [math.exp(-1.0), math.exp(-2.0)]
    assert list(bars.marker.pattern.shape) == ["", "/"]
    assert chart.figure.layout.yaxis.autorange == "reversed"
    assert "2 best matches" in chart.alt
    assert "37 %" in chart.alt


def test_hostile_text_on_a_bar_is_escaped():
    table = matches_table(rows("<a href='javascript:1'>x</a> $y$"))
    (bars,) = search_charts.probability_bars(table).figure.data
    assert "<a" not in bars.hovertext[0]
    assert "$" not in bars.hovertext[0]


def test_no_matches_make_an_empty_figure():
    chart = search_charts.probability_bars(matches_table([]))
    assert "0 best" in chart.alt
    assert "No bounds" in search_charts.mass_over_time([]).alt
    assert search_charts.matches_over_time([]).figure.data[0].y == (0,)


def test_bounds_close_in_over_time():
    chart = search_charts.mass_over_time([(0.1, 0.0, 1.0), (0.5, 0.1, 0.4), (1.0, 0.2, 0.2)])
    lower, upper = chart.figure.data
    assert list(lower.y) == [0.0, 0.1, 0.2]
    assert list(upper.y) == [1.0, 0.4, 0.2]
    assert list(lower.x) == list(upper.x) == [0.1, 0.5, 1.0]
    assert "between 20 % and 20 %" in chart.alt


def test_matches_over_time_climbs_by_one():
    (line,) = search_charts.matches_over_time(rows("a", "b", "c")).figure.data
    assert list(line.y) == [0, 1, 2, 3]
    assert list(line.x) == [0.0, 0.1, 0.2, 0.3]


READINGS = [
    {"token_id": 1, "text": "The", "log_prob": None, "rank": None, "allowed": None, "top": []},
    {"token_id": 2, "text": " <b>", "log_prob": math.log(0.25), "rank": 3, "allowed": True, "top": []},
    {"token_id": 3, "text": "at", "log_prob": math.log(0.5), "rank": 1, "allowed": False, "top": []},
]


def test_token_bars_mark_given_and_refused_tokens():
    chart = search_charts.token_bars(READINGS, prefix_tokens=1)
    (bars,) = chart.figure.data
    assert bars.y[0] is None
    assert [round(value, 6) for value in bars.y[1:]] == [0.25, 0.5]
    assert bars.marker.color[1:] == (BLUE, RED)
    assert bars.marker.pattern.shape == ("", "", "x")
    assert chart.figure.layout.xaxis.ticktext == ("The", "␣&lt;b&gt;", "at")
    assert "3 tokens; the least likely has 25 %" in chart.alt
