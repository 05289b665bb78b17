"""Figures at the size of a wall, larger and harmless.

    on a page     font 12, bars of 26 pixels        on a screen     font 24, bars of 32 pixels, wider lines

A screen is laid out for 1440 pixels and scaled to the projector as a whole, so sizes are pixels of that layout. A high
figure has a least height, below which its labels would overlap.

A deck may come from a foreign file. Of a figure only the kinds of traces and the parts of a layout that Relens uses are
kept, of an SVG only the elements and attributes of a drawn automaton: neither can fetch, run or link anything.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

#: Factors of text, of lines and marks, and of the height of a figure.
TEXT, LINES, HEIGHT = 2.0, 1.7, 1.25
_FONT, _MARK, _LINE = 12.0, 6.0, 2.0
_HEIGHT = 300.0
_LARGEST = 1e6

_TRACES = frozenset({"bar", "scatter", "scattergl", "histogram", "heatmap", "box", "violin", "pie", "waterfall"})
_LAYOUT = re.compile(
    r"[xy]axis\d*|annotations|shapes|legend|barmode|barnorm|bargap|bargroupgap|boxmode|violinmode|showlegend|title|height|"
    r"margin|coloraxis|hovermode|grid|font|uniformtext"
)
_FONTS = re.compile(r"(?:[a-z]*font)")
#: Sizes that grow with the lines, and those that grow with the text.
_WIDTHS, _DISTANCES = frozenset({"width", "thickness"}), frozenset({"standoff", "ticklabelstandoff", "ticklen"})
#: The parts of a figure with visible text.
_SEEN = frozenset({"text", "hovertext", "customdata", "ticktext", "name", "labels", "x", "y", "hovertemplate", "meta"})
#: Possessive (*+): with backtracking, a figure of a million blanks would take hours.
_LINK = re.compile(r"<\s*+(?=/?+\s*+a\b)", re.IGNORECASE)

_ELEMENTS = frozenset({"svg", "g", "title", "path", "polygon", "polyline", "ellipse", "text"})
_ATTRIBUTES = frozenset(
    {
        "class",
        "d",
        "points",
        "cx",
        "cy",
        "rx",
        "ry",
        "x",
        "y",
        "transform",
        "text-anchor",
        "stroke-dasharray",
        "viewBox",
    }
)
_SVG = "http://www.w3.org/2000/svg"


def plotly_figure(text: str) -> dict[str, Any] | None:
    """A figure from its JSON, {"data": [...], "layout": {...}}, with the parts that Relens uses; None for no figure."""
    try:
        figure = json.loads(text, parse_constant=lambda _name: None, parse_float=_finite, parse_int=_finite)
    except (ValueError, RecursionError):
        return None
    if not isinstance(figure, dict) or not isinstance(figure.get("data"), list):
        return None
    traces = [
        trace for trace in figure["data"] if isinstance(trace, dict) and str(trace.get("type", "scatter")) in _TRACES
    ]
    layout = figure.get("layout")
    kept = (
        {name: value for name, value in layout.items() if _LAYOUT.fullmatch(name)} if isinstance(layout, dict) else {}
    )
    return {"data": _without_links(traces), "layout": _without_links(kept)}


def projected(figure: dict[str, Any]) -> dict[str, Any]:
    """The figure for a screen: {"data", "layout", "height"}, the least height in pixels of a layout 1440 wide.

    figure: of `plotly_figure`. It loses its own height: a screen gives it the room that is left.
    """
    layout = _larger(figure["layout"])
    height = layout.pop("height", None)
    if not isinstance(height, (int, float)) or not 0 < height < 20_000:
        height = _HEIGHT
    font = layout.get("font") if isinstance(layout.get("font"), dict) else {}
    layout["font"] = {**font, "size": max(_number(font.get("size"), TEXT * _FONT), TEXT * _FONT)}
    layout["hoverlabel"] = {"font": {"size": TEXT * _FONT}}
    layout["autosize"] = True
    margins = layout.get("margin") if isinstance(layout.get("margin"), dict) else {}
    layout["margin"] = {side: HEIGHT * _number(margins.get(side), 40.0) for side in ("l", "r", "t", "b")}
    return {
        "data": [_larger_trace(trace) for trace in figure["data"]],
        "layout": layout,
        "height": max(1, round(HEIGHT * height)),
    }


def masked_figure(text: str, mask: Callable[[str], str]) -> str:
    """A figure, JSON or SVG, with `mask` on its visible texts; any other text is masked as a whole."""
    if text.lstrip().startswith("<"):
        return "<".join(_masked_part(part, mask) for part in text.split("<"))
    try:
        return json.dumps(_masked(json.loads(text), mask), separators=(",", ":"))
    except (ValueError, RecursionError):
        return mask(text)


def svg_picture(text: str) -> str | None:
    """An SVG with only the parts of a drawn automaton, safe inside HTML; None for any other text."""
    if "<!ENTITY" in text:
        return None
    try:
        before, _, behind = text.partition("<!DOCTYPE")
        root = ElementTree.fromstring(before + behind.partition(">")[2] if behind else text)
        if _local(root) != "svg" or not re.fullmatch(r"[-+\d.eE ,]+", root.get("viewBox", "")):
            return None
        return ElementTree.tostring(_cleaned(root), encoding="unicode")
    except (ElementTree.ParseError, ValueError, RecursionError):
        return None


def svg_address(picture: str) -> str:
    """A drawing of `svg_picture` as an address for an `<img>`, in greys for white and for black."""
    style = (
        "text{font:12px monospace;fill:#7A858F}ellipse,path{fill:none;stroke:#7A858F}"
        "polygon,.entry ellipse{fill:#7A858F;stroke:none}"
    )
    whole = picture.replace("<svg", f'<svg xmlns="{_SVG}"', 1).replace(">", f"><style>{style}</style>", 1)
    return f"data:image/svg+xml;base64,{base64.b64encode(whole.encode('utf-8', 'replace')).decode()}"


def _cleaned(element: ElementTree.Element) -> ElementTree.Element:
    copy = ElementTree.Element(_local(element))
    for name, value in element.attrib.items():
        if name in _ATTRIBUTES:
            copy.set(name, value)
    copy.text, copy.tail = element.text, element.tail
    copy.extend([_cleaned(child) for child in element if isinstance(child.tag, str) and _local(child) in _ELEMENTS])
    return copy


def _local(element: ElementTree.Element) -> str:
    return element.tag.removeprefix(f"{{{_SVG}}}")


def _without_links(value: Any) -> Any:
    """The value with links, plotly's only tag that leads elsewhere, as text."""
    if isinstance(value, str):
        return _LINK.sub("&lt;", value)
    if isinstance(value, list):
        return [_without_links(item) for item in value]
    if isinstance(value, dict):
        return {name: _without_links(item) for name, item in value.items()}
    return value


def _masked_part(part: str, mask: Callable[[str], str]) -> str:
    """A tag without its `<`, and the text behind it, masked."""
    tag, closing, words = part.partition(">")
    return f"{tag}{closing}{mask(words)}" if words else part


def _masked(value: Any, mask: Callable[[str], str], inside: str = "") -> Any:
    """Visible texts masked, and no settings: a list of words may have "lines" in it."""
    if isinstance(value, str):
        return mask(value) if inside in _SEEN else value
    if isinstance(value, list):
        return [_masked(item, mask, inside) for item in value]
    if isinstance(value, dict):
        return {name: _masked(item, mask, name) for name, item in value.items()}
    return value


def _larger(value: Any, inside: str = "") -> Any:
    """Every font, line and distance of a part of a figure made larger."""
    if isinstance(value, list):
        return [_larger(item, inside) for item in value]
    if not isinstance(value, dict):
        return value
    made: dict[str, Any] = {}
    for name, item in value.items():
        if isinstance(item, (int, float)) and not isinstance(item, bool):
            if name == "size" and _FONTS.fullmatch(inside):
                item = TEXT * _bounded(item)
            elif name in _WIDTHS and inside in ("line", "error_x", "error_y", "connector"):
                item = LINES * _bounded(item)
            elif name in _DISTANCES:
                item = round(TEXT * _bounded(item))
        made[name] = _larger(item, name)
    return made


def _larger_trace(trace: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = _larger(trace)
    if made.get("type", "scatter") in ("scatter", "scattergl"):
        marker = made.get("marker") if isinstance(made.get("marker"), dict) else {}
        line = made.get("line") if isinstance(made.get("line"), dict) else {}
        size = marker.get("size", _MARK)
        if isinstance(size, (int, float)):
            size = LINES * size
        elif isinstance(size, list):
            size = [LINES * _number(one, _MARK) for one in size]
        made["marker"] = {**marker, "size": size}
        made["line"] = {**line, "width": _number(line.get("width"), LINES * _LINE)}
    return made


def _number(value: Any, otherwise: float) -> float:
    return float(_bounded(value)) if isinstance(value, (int, float)) and not isinstance(value, bool) else otherwise


def _bounded(size: float) -> float:
    """A size that a browser can draw."""
    return max(min(size, _LARGEST), -_LARGEST)


def _finite(written: str) -> float | None:
    """A number of JSON; None for one beyond the numbers of a browser."""
    number = float(written)
    if not math.isfinite(number):
        return None
    return int(written) if re.fullmatch(r"-?\d{1,15}", written) else number
