"""Small pictures of figures: bounded, drawable, and still what one knows the figure by."""

from __future__ import annotations

import json

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.runs.screens import LONGEST_PREVIEW
from relens_dashboard.present.finding import Finding
from relens_dashboard.present.previews import preview_of
from tests.app.present.test_figures import SVG
from tests.examples import examples


def written(*traces, **layout):
    return json.dumps({"data": list(traces), "layout": layout})


MANY = 20_000
LARGE = {
    "points": {"type": "scatter", "x": list(range(MANY)), "y": [n * n for n in range(MANY)], "text": ["w" * 40] * MANY},
    "bars": {"type": "bar", "x": [f"a long word {n}" * 4 for n in range(MANY)], "y": list(range(MANY))},
    "heat map": {"type": "heatmap", "z": [[row * column for column in range(250)] for row in range(250)]},
    "marks": {"type": "scatter", "y": list(range(MANY)), "marker": {"size": [3] * MANY, "color": list(range(MANY))}},
    "intervals": {"type": "bar", "y": list(range(MANY)), "error_y": {"type": "data", "array": [0.5] * MANY}},
    "histogram": {"type": "histogram", "x": [n % 17 for n in range(MANY)]},
}


@pytest.mark.parametrize("kind", LARGE)
def test_a_large_figure_has_a_small_picture(kind):
    figure = written(LARGE[kind])
    assert len(figure) > LONGEST_PREVIEW
    small = preview_of(figure)
    assert 0 < len(small) <= LONGEST_PREVIEW
    (trace,) = go.Figure(json.loads(small)).data
    assert trace.type == LARGE[kind]["type"]


def test_a_line_keeps_its_ends_and_its_shape():
    (trace,) = json.loads(preview_of(written(LARGE["points"])))["data"]
    assert (trace["x"][0], trace["x"][-1]) == (0, MANY - 1)
    assert trace["y"] == [x * x for x in trace["x"]]
    assert len(trace["x"]) == 120


def test_a_small_figure_keeps_all_its_marks():
    figure = go.Figure(go.Bar(x=["art", "science"], y=[0.6, 0.4], hovertext=["a", "b"]))
    figure.update_layout(title="A title", yaxis={"title": "share"})
    small = json.loads(preview_of(Finding("t", ["s"], figure=figure).screen().figure))
    assert small["data"] == [{"type": "bar", "x": ["art", "science"], "y": [0.6, 0.4]}]
    assert small["layout"]["height"] == 170
    assert "title" not in small["layout"]


def test_numbers_that_plotly_packs_are_read():
    figure = go.Figure(go.Heatmap(z=np.arange(10_000.0).reshape(100, 100)))
    figure.add_trace(go.Scatter(y=np.array([1.0, np.nan, 3.0])))
    packed = Finding("t", ["s"], figure=figure).screen().figure
    assert "bdata" in packed
    heat, line = json.loads(preview_of(packed))["data"]
    assert len(heat["z"]) == len(heat["z"][0]) <= 40
    assert (heat["z"][0][0], heat["z"][-1][-1]) == (0.0, 9_999.0)
    assert line["y"] == [1.0, None, 3.0]


def test_a_drawing_loses_its_texts_before_it_is_given_up():
    shape, text = '<ellipse cx="1" cy="1" rx="1" ry="1"/>', f"<text>{'w' * 1000}</text>"
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10">'
    assert "<ellipse" in preview_of(SVG)
    without_texts = preview_of(f"{head}{shape}{text * 100}</svg>")
    assert "<ellipse" in without_texts
    assert "<text" not in without_texts
    assert preview_of(f"{head}{shape * 10_000}</svg>") == ""


@pytest.mark.parametrize("figure", ["", "{}", "nonsense", "<svg", written({"type": "bar", "orientation": "sideways"})])
def test_a_figure_that_cannot_be_drawn_has_no_picture(figure):
    assert preview_of(figure) == ""


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
names = st.sampled_from(["x", "y", "z", "type", "marker", "line", "name", "values", "bdata"])


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.dictionaries(names, values, max_size=4), max_size=3), st.dictionaries(names, values, max_size=2))
def test_whatever_a_file_holds_makes_a_picture_or_none(traces, axis):
    small = preview_of(written(*traces, xaxis=axis, annotations=[axis], legend=axis))
    assert len(small.encode()) <= LONGEST_PREVIEW
    if small:
        go.Figure(json.loads(small))
