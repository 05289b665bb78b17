"""Small pictures of figures, by which screens are recognised while a deck is arranged.

    figure     60,000 points, their hover texts, four annotations       1.3 MB
    preview    120 of the points, two annotations                       6 kB

A deck of twenty such figures is 26 MB, too much for a list. So each gets one picture of at most
`relens.runs.screens.LONGEST_PREVIEW` bytes: marks are left out evenly, texts are cut, and hover texts go. A drawing
keeps its shapes, and its texts where there is room.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from relens.runs.screens import LONGEST_PREVIEW
from relens_dashboard.present.figures import plotly_figure, svg_picture
from relens_dashboard.text import shortened

#: In pixels.
PREVIEW_HEIGHT = 170
#: Marks of a trace, tried in turn until the picture is small enough; most traces; most texts; characters of a text.
_MARKS, _MOST_TRACES, _MOST_TEXTS, _LONGEST_TEXT = (120, 40, 12), 12, 12, 40
#: The visible parts of a trace; the rest is hover text, or text that would be too small to read.
_SEEN = frozenset(
    {"type", "mode", "name", "orientation", "opacity", "width", "offset", "base", "fill", "fillcolor", "stackgroup"}
    | {"x", "y", "z", "x0", "dx", "y0", "dy", "labels", "values", "measure", "marker", "line", "error_x", "error_y"}
    | {"xaxis", "yaxis", "colorscale", "zmin", "zmax", "zmid", "showscale", "coloraxis", "hole", "sort", "connector"}
    | {"boxpoints", "points", "side", "nbinsx", "nbinsy", "xbins", "ybins", "histnorm", "histfunc", "connectgaps"}
    | {"q1", "median", "q3", "lowerfence", "upperfence", "mean", "notched", "increasing", "decreasing", "totals"}
)
_AXIS = re.compile(r"[xy]axis\d*")
#: Elements of a drawing with nothing but text in them.
_TITLE, _TEXT = re.compile(r"<title\b[^<>]*(?:/>|>[^<]*</title>)"), re.compile(r"<text\b[^<>]*(?:/>|>[^<]*</text>)")


def preview_of(figure: str) -> str:
    """The small picture of a screen's figure: JSON of plotly, or an SVG; "" for a figure without one."""
    if figure.lstrip().startswith("<"):
        return _small_drawing(figure)
    parsed = plotly_figure(figure) if figure else None
    if parsed is None:
        return ""
    for marks in _MARKS:
        small = _small_figure(parsed, marks)
        try:
            go.Figure(small)
        except (ValueError, TypeError, RecursionError):
            return ""  # a file may hold anything
        written = json.dumps(small, separators=(",", ":"))
        if len(written) <= LONGEST_PREVIEW:
            return written
    return ""


def _small_drawing(figure: str) -> str:
    drawn = svg_picture(figure)
    if drawn is None:
        return ""
    for unseen in (_TITLE, _TEXT):
        drawn = unseen.sub("", drawn)
        if len(drawn.encode("utf-8", "replace")) <= LONGEST_PREVIEW:
            return drawn
    return ""


def _small_figure(figure: Mapping[str, Any], marks: int) -> dict[str, Any]:
    return {
        "data": [_small_trace(trace, marks) for trace in figure["data"][:_MOST_TRACES]],
        "layout": _small_layout(figure["layout"]),
    }


def _small_trace(trace: Mapping[str, Any], marks: int) -> dict[str, Any]:
    seen = {name: value for name, value in trace.items() if name in _SEEN}
    if "z" in seen:
        side = max(2, int(marks**0.5) * 2)
        seen["z"] = [_thinned(line, side) for line in _thinned(seen["z"], side)]
        marks = side
    return {name: value if name == "z" else _small(value, marks) for name, value in seen.items()}


def _small(value: Any, marks: int) -> Any:
    if isinstance(value, str):
        return shortened(value, _LONGEST_TEXT)
    if isinstance(value, Mapping) and "bdata" not in value:
        return _small_parts(value, marks)
    if isinstance(value, Mapping | Sequence):
        return [_small(item, marks) if isinstance(item, str) else item for item in _thinned(value, marks)]
    return value


def _small_parts(value: Mapping[str, Any], marks: int) -> dict[str, Any]:
    return {name: _small(item, marks) for name, item in value.items()}


def _thinned(values: Any, count: int) -> list[Any]:
    """`count` of the values, evenly, with the first and the last; () of anything but a list."""
    if isinstance(values, Mapping):
        values = _numbers(values)
    if not isinstance(values, Sequence) or isinstance(values, str):
        return []
    if len(values) <= count:
        return list(values)
    return [values[round(place * (len(values) - 1) / (count - 1))] for place in range(count)]


def _numbers(packed: Mapping[str, Any]) -> list[Any]:
    """Numbers as plotly packs them: {"dtype": "f8", "bdata": base64, "shape": "rows, columns"}."""
    try:
        numbers = np.frombuffer(base64.b64decode(str(packed["bdata"])), np.dtype(str(packed["dtype"])))
        shape = [int(size) for size in str(packed.get("shape", numbers.size)).split(",")]
        return [_finite(one) for one in numbers.reshape(shape).tolist()]
    except (KeyError, TypeError, ValueError):
        return []


def _finite(value: Any) -> Any:
    """The value; None for a number that JSON cannot write."""
    if isinstance(value, list):
        return list(map(_finite, value))
    return value if not isinstance(value, float) or np.isfinite(value) else None


def _small_layout(layout: Mapping[str, Any]) -> dict[str, Any]:
    small: dict[str, Any] = {}
    for name, value in layout.items():
        if _AXIS.fullmatch(name) and isinstance(value, Mapping):
            small[name] = _small_parts(value, _MOST_TEXTS) | {"title": None}
            if any(_is_long(value.get(texts)) for texts in ("ticktext", "tickvals")):
                small[name]["showticklabels"] = False
        elif name in ("annotations", "shapes") and isinstance(value, list):
            small[name] = [_small_parts(item, _MOST_TEXTS) for item in value[:_MOST_TEXTS] if isinstance(item, Mapping)]
        elif name not in ("title", "height", "margin", "legend", "font", "hovermode"):
            small[name] = _small(value, _MOST_TEXTS)
    for note in small.get("annotations", ()):
        note["font"] = {"size": 8}
    return small | {
        "height": PREVIEW_HEIGHT,
        "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
        "showlegend": False,
        "font": {"size": 9},
    }


def _is_long(value: Any) -> bool:
    return isinstance(value, Sequence) and len(value) > _MOST_TEXTS
