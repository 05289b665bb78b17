"""The marks: numbers go in as they are, text is only text, and series differ in more than one way."""

import pytest

from relens.statistics import Estimate
from relens_dashboard.charts import (
    STYLES,
    Panel,
    band,
    bars,
    chart,
    dots,
    heat_map,
    level,
    line,
    panels,
    powers,
    thinned,
)

HOSTILE = "<a href='javascript:1'>x</a> $y$"
SHARES = [Estimate(0.5, 0.4, 0.7), Estimate.exact(1.0)]


@pytest.mark.parametrize("part", ["color", "pattern", "symbol", "dash"])
def test_styles_differ_in_everything(part):
    assert len({getattr(style, part) for style in STYLES}) == len(STYLES)


@pytest.mark.parametrize(
    ("mark", "error"),
    [
        (bars(SHARES), "error_x"),
        (bars(SHARES, upright=True), "error_y"),
        (dots(SHARES, [0, 1]), "error_x"),
        (line([0, 1], SHARES), "error_y"),
    ],
)
def test_an_estimate_has_its_interval(mark, error):
    assert list(mark[error.replace("error_", "")]) == [0.5, 1.0]
    assert mark[error].array == pytest.approx([0.2, 0.0])
    assert mark[error].arrayminus == pytest.approx([0.1, 0.0])


def test_exact_values_have_no_intervals():
    assert bars([Estimate.exact(0.5), Estimate.exact(0.2)]).error_x.array is None
    assert dots([0.5, None], [0, 1]).error_x.array is None


def test_every_text_is_escaped():
    drawn = [
        chart([bars([1], name=HOSTILE, text=[HOSTILE], hover=[HOSTILE])], "", y_labels=[HOSTILE]),
        chart([dots([1], [1], name=HOSTILE, hover=[HOSTILE]), line([1], [1], name=HOSTILE, hover=[HOSTILE])], ""),
        chart([heat_map([[1.0]], "weight", [[HOSTILE]])], ""),
        panels([Panel([bars([1], name=HOSTILE)], HOSTILE)], ""),
    ]
    level(drawn[1].figure, 1.0, HOSTILE)
    for each in drawn:
        written = each.figure.to_json().replace("\\u003c", "<")
        assert "<a" not in written
        assert "$y" not in written


def test_a_line_break_begins_a_new_line():
    assert list(bars([1], hover=["a\nb"]).hovertext) == ["a<br>b"]


def test_a_legend_has_several_names_and_room_for_them():
    one, two = ([line([0], [0], name=name) for name in names] for names in (["a"], ["a", "b"]))
    assert not chart(one, "").figure.layout.showlegend
    assert chart(two, "").figure.layout.showlegend
    assert chart(two, "").figure.layout.height > chart(one, "").figure.layout.height
    assert chart(one, "", showlegend=True, height=99).figure.layout.to_plotly_json()["height"] == 99


def test_labels_stand_from_the_top_at_their_places():
    axis = chart([bars([1, 2])], "", y_labels=["first", "second"]).figure.layout.yaxis
    assert (axis.autorange, axis.tickvals, axis.ticktext) == ("reversed", (0, 1), ("first", "second"))


@pytest.mark.parametrize(("across", "rows"), [(1, 3), (2, 2), (3, 1)])
def test_panels_have_each_name_once_and_no_empty_axes(across, rows):
    parts = [Panel([bars([1, 2], name="man"), bars([1, 2], name="woman")], f"panel {place}") for place in range(3)]
    figure = panels(parts, "", across=across).figure
    assert [trace.name for trace in figure.data if trace.showlegend] == ["man", "woman"]
    assert len(list(figure.select_xaxes())) == len(figure.layout.annotations) == 3
    assert len({axis.domain for axis in figure.select_yaxes()}) == rows


def test_a_band_is_shaded_between_the_ends_of_intervals():
    high, low = band([1, 2], SHARES)
    assert (list(high.y), list(low.y), low.fill) == ([0.7, 1.0], [0.4, 1.0], "tonexty")


def test_a_level_stands_at_its_value_on_any_axis():
    for kind, place in (("linear", 0.01), ("log", -2.0)):
        drawn = chart([line([1], [1])], "", y={"type": kind})
        level(drawn.figure, 0.01, "name")
        assert drawn.figure.layout.shapes[0].y0 == 0.01
        assert drawn.figure.layout.annotations[0].y == pytest.approx(place)


@pytest.mark.parametrize(("count", "most"), [(0, 3), (1, 3), (3, 3), (100, 7), (2_001, 1_000)])
def test_thinned_places_are_few_and_end_at_the_last(count, most):
    places = thinned(count, most)
    assert len(places) <= most + 1
    assert places[:1] == list(range(count))[:1]
    assert places[-1:] == list(range(count))[-1:]


def test_powers_have_numbers_within_the_range():
    assert powers(12)["ticktext"] == ["1", "2", "5", "10"]
