"""Figures for a wall: larger, complete, and harmless whoever made the file."""

from __future__ import annotations

import base64
import json
import xml.etree.ElementTree as ElementTree

import pandas as pd
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens_dashboard.present.explanation import plain
from relens_dashboard.present.figures import (
    HEIGHT,
    LINES,
    TEXT,
    masked_figure,
    plotly_figure,
    projected,
    svg_address,
    svg_picture,
)
from relens_dashboard.present.previews import preview_of
from relens_dashboard.search_charts import matches_over_time, probability_bars
from tests.steps import grows_too_fast

TABLE = pd.DataFrame(
    {"#": [1, 2], "Text": ["a<b", "c"], "Prefix": "", "Probability": [0.5, 0.25], "Canonical": [True, False]}
)


def test_visible_parts_of_a_figure_are_kept():
    figure = probability_bars(TABLE).figure
    shown = projected(plotly_figure(figure.to_json()))
    (bars,) = shown["data"]
    assert bars["type"] == "bar"
    assert bars["hovertext"] == ["a&lt;b<br>50 %", "c<br>25 %"]
    assert shown["layout"]["yaxis"]["ticktext"] == list(figure.layout.yaxis.ticktext)
    assert shown["height"] == round(HEIGHT * figure.layout.height)
    go.Figure(shown["data"], {name: value for name, value in shown["layout"].items() if name != "autosize"})


def test_every_font_line_and_mark_is_larger_and_none_twice():
    figure = go.Figure(
        go.Scatter(x=[1], y=[2], marker={"size": 7}, line={"width": 3}, error_x={"array": [1], "width": 4})
    )
    figure.add_annotation(text="a", font={"size": 11})
    figure.update_layout(title={"text": "t", "font": {"size": 20}}, height=100, template=None)
    figure.update_xaxes(tickfont={"size": 10}, title={"text": "x", "standoff": 5})
    shown = projected(plotly_figure(figure.to_json()))
    layout, (trace,) = shown["layout"], shown["data"]
    assert layout["annotations"][0]["font"]["size"] == 11 * TEXT
    assert layout["title"]["font"]["size"] == 20 * TEXT
    assert layout["xaxis"]["tickfont"]["size"] == 10 * TEXT
    assert layout["xaxis"]["title"]["standoff"] == 5 * TEXT
    assert layout["font"]["size"] >= 24
    assert trace["marker"]["size"] == pytest.approx(7 * LINES)
    assert trace["line"]["width"] == pytest.approx(3 * LINES)
    assert trace["error_x"]["width"] == pytest.approx(4 * LINES)
    assert trace["x"] == [1]


def test_a_line_without_a_width_is_wide_enough():
    trace = projected(plotly_figure(go.Figure(go.Scatter(x=[1], y=[1])).to_json()))["data"][0]
    assert trace["line"]["width"] > 3
    assert trace["marker"]["size"] > 9


@pytest.mark.parametrize("text", ["", "x", "[]", "{}", '{"data": 3}', "[" * 100_000, "null"])
def test_any_other_text_is_no_figure(text):
    assert plotly_figure(text) is None


def test_only_parts_that_relens_uses_are_kept():
    hostile = {
        "data": [
            {"type": "scattergeo", "lon": [1]},
            {"type": "image", "source": "https://example.org/x.png"},
            {"type": "bar", "x": [1], "hovertext": ["<a href='https://example.org'>x</a>", "< A href=''>"]},
            "x",
        ],
        "layout": {
            "images": [{"source": "https://example.org/x.png"}],
            "mapbox": {"style": "https://example.org"},
            "updatemenus": [{}],
            "template": {"layout": {"images": []}},
            "xaxis": {"title": {"text": "<a href='javascript:alert(1)'>x</a>"}},
            "xaxis2": {},
        },
    }
    figure = plotly_figure(json.dumps(hostile))
    assert [trace["type"] for trace in figure["data"]] == ["bar"]
    assert set(figure["layout"]) == {"xaxis", "xaxis2"}
    assert "<a" not in json.dumps(figure).lower().replace(" ", "")


def test_numbers_that_no_browser_has_are_left_out():
    large = '{"data": [{"type": "bar", "x": [1e400, -1e400, 123456789012345678, 7]}]}'
    assert plotly_figure(large)["data"][0]["x"] == [None, None, 123456789012345678.0, 7]
    assert plotly_figure('{"data": [], "layout": {"height": 1' + "0" * 5000 + "}}")["layout"] == {"height": None}
    assert plotly_figure('{"data": [{"type": "bar", "x": [NaN, Infinity, 1]}]}')["data"][0]["x"] == [None, None, 1]


values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["size", "font", "width", "line", "marker", "height", "margin", "title", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    trace=st.dictionaries(st.sampled_from(["x", "marker", "line", "textfont", "error_x"]), values, max_size=4),
    layout=st.dictionaries(
        st.sampled_from(["font", "margin", "height", "xaxis", "title", "annotations"]), values, max_size=4
    ),
)
def test_any_json_is_taken_and_gives_json(trace, layout):
    figure = plotly_figure(json.dumps({"data": [trace], "layout": layout}))
    shown = projected(figure)
    json.dumps(shown, allow_nan=False)
    assert shown["height"] > 0
    assert shown["layout"]["font"]["size"] >= 24


SVG = (
    '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "x" "y"><svg xmlns="http://www.w3.org/2000/svg" '
    'xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 10 10" onload="alert(1)" width="1">'
    "<script>alert(2)</script><style>@import url(x)</style><foreignObject><b/></foreignObject>"
    '<g class="node" id="x" style="fill:url(http://x)"><title>&lt;script&gt;</title><a xlink:href="http://x"><text>b</text></a>'
    '<ellipse cx="1" cy="2" rx="3" ry="4" onclick="x"/><text x="1">a &amp; &lt;b&gt;</text>'
    '<image href="http://x"/><use href="#x"/></g></svg>'
)


def test_a_drawing_keeps_its_shapes_and_labels_alone():
    root = ElementTree.fromstring(svg_picture(SVG))
    assert {element.tag for element in root.iter()} == {"svg", "g", "title", "ellipse", "text"}
    names = {name for element in root.iter() for name in element.attrib}
    assert names == {"viewBox", "class", "cx", "cy", "rx", "ry", "x"}
    assert [element.text for element in root.iter("text")] == ["a & <b>"]


def test_a_drawing_has_an_address_that_holds_all_of_it():
    kind, _, written = svg_address(svg_picture(SVG)).partition(";base64,")
    assert kind == "data:image/svg+xml"
    root = ElementTree.fromstring(base64.b64decode(written))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")] == ["a & <b>"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<p/>",
        "<svg/>",
        "<svg",
        '<!DOCTYPE x [<!ENTITY a "aaaa">]><svg viewBox="0 0 1 1">&a;</svg>',
        '<svg viewBox="0 0 1 1" xmlns="http://www.w3.org/1999/xhtml"/>',
        '<svg viewBox="&quot;>"/>',
        '<svg viewBox="0 0 1 1">' + "<g>" * 50_000 + "</g>" * 50_000 + "</svg>",
        "<svg viewBox='0 0 1 1'>\ud800</svg>",
    ],
)
def test_any_other_text_is_no_drawing(text):
    assert svg_picture(text) is None


def test_words_are_masked_where_they_are_seen_and_nowhere_else():
    mask = lambda text: text.replace("lines", "l····").replace("idiot", "i····")  # noqa: E731
    figure = go.Figure(go.Scatter(x=["idiot"], y=[1], mode="lines", hovertext=["lines of an idiot"], name="idiot"))
    figure.update_xaxes(title="idiot", tickvals=[0], ticktext=["idiot"])
    hidden = masked_figure(figure.to_json(), mask)
    assert "idiot" not in hidden
    assert go.Figure(json.loads(hidden)).data[0].mode == "lines"
    assert masked_figure("<svg><text class='idiot'>an idiot</text></svg>", mask) == (
        "<svg><text class='idiot'>an i····</text></svg>"
    )


def test_a_chart_over_time_survives():
    shown = projected(plotly_figure(matches_over_time([{"seconds": 0.5}, {"seconds": 1.0}]).figure.to_json()))
    assert shown["data"][0]["x"] == [0.0, 0.5, 1.0]


BEGIN, END = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">', "</svg>"


@pytest.mark.parametrize(
    ("read", "made"),
    [
        (plotly_figure, lambda length: json.dumps({"data": [], "layout": {"title": "<" + " " * length}})),
        (plotly_figure, lambda length: json.dumps({"data": [], "layout": {"title": "< / " * (length // 4)}})),
        (svg_picture, lambda length: "<svg>" + "<!DOCTYPE" * (length // 9)),
        (svg_picture, lambda length: "<svg viewBox='" + "1" * length + "x'/>"),
        (lambda text: masked_figure(text, str), lambda length: "<" + ">" * length),
        (lambda text: masked_figure(text, str), lambda length: "<a>b" * (length // 4)),
        (preview_of, lambda length: BEGIN + "<title/>" * (length // 8) + END),
        (
            preview_of,
            lambda length: f'<svg xmlns="{SVG}" viewBox="0 0 1 1">{"<text><g/></text>" * (length // 17)}</svg>',
        ),
        (plain, lambda length: "<" * length),
        (plain, lambda length: "<a " * (length // 3)),
    ],
)
def test_a_figure_from_elsewhere_takes_time_as_it_is_long(read, made):
    assert not grows_too_fast(read, made)


def test_links_in_any_spelling_become_text():
    titles = ["<a href='x'>", "< a>", "</a>", "< / a >", "<\n\tA b>", "<b>", "<area>"]
    figure = plotly_figure(json.dumps({"data": [], "layout": {"annotations": titles}}))
    assert figure["layout"]["annotations"] == [
        "&lt;a href='x'>", "&lt;a>", "&lt;/a>", "&lt;/ a >", "&lt;A b>", "<b>", "<area>"
    ]  # fmt: skip


def test_texts_of_a_drawing_are_masked_and_its_tags_are_not():
    drawing = '<?xml version="1.0"?>\n<svg class="idiot"><title>an idiot</title>a > idiot</svg>\n'
    assert masked_figure(drawing, lambda text: text.replace("idiot", "i····")) == (
        '<?xml version="1.0"?>\n<svg class="idiot"><title>an i····</title>a > i····</svg>\n'
    )
