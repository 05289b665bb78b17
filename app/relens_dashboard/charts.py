"""One theme for all figures, and the marks that they are made of.

    chart(                                                       model A  ████████├──┤      ▇ exact  ▨ one edit
        [bars(exact, name="exact"),                                       ▨▨▨▨▨▨▨▨▨▨▨├─┤
         bars(edited, name="one edit", style=STYLES[1])],        model B  ██├─┤
        "Bars of the share of matches by model.",                         ▨▨▨▨├──┤
        y_labels=["model A", "model B"],                                  0 %          100 %
        x=SHARE | {"title": "Share of inputs"})                           Share of inputs

A mark (`bars`, `dots`, `line`, `band`, `heat_map`) draws one series; an `Estimate` among its values has its interval.
`chart` puts marks on one pair of axes, `panels` on several, with the sentence that stands in for the figure.

Marks take plain text and escape it (`relens_dashboard.text.as_plotly`); a line break begins a new line. The colours are
Okabe and Ito's, distinguishable with any colour vision, and never the only sign: a style has a hatching, a symbol and a
dash too.

The theme is a part of every figure's own layout, without colours of text, grid and background. The place of a figure
sets these: Streamlit's template on a page, light or dark; in a deck that of `assets/screens.js`, since a pinned figure
has no template.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import plotly.graph_objects as go
from plotly.basedatatypes import BaseTraceType
from plotly.subplots import make_subplots

from relens_dashboard.text import as_plotly, shortened

if TYPE_CHECKING:
    from relens.statistics import Estimate

Values = Sequence["float | Estimate | None"]
Axis = Mapping[str, Any]

BLUE, ORANGE, GREEN, PINK, SKY, RED = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"

#: For reference values; visible on white and on black.
GREY = "#8A939B"
#: For intervals; visible on coloured bars, on white and on black.
INTERVAL_GREY = "#6B757E"


@dataclass(frozen=True)
class Style:
    """The look of a series: colour and hatching of a bar, symbol of a point, dash of a line."""

    color: str = BLUE
    pattern: str = ""
    symbol: str = "circle"
    dash: str = "solid"


#: For the first series, the second, ...; readers cannot distinguish more.
STYLES = (
    Style(BLUE, "", "circle", "solid"),
    Style(ORANGE, "/", "diamond", "dash"),
    Style(GREEN, "x", "square", "dot"),
    Style(PINK, ".", "triangle-up", "dashdot"),
    Style(SKY, "\\", "cross", "longdash"),
    Style(RED, "+", "star", "longdashdot"),
)

#: Shown with every figure: save as a vector drawing, and no logo.
CONFIG = {
    "displaylogo": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
    "toImageButtonOptions": {"format": "svg", "filename": "relens"},
}

#: The layout of all figures. Numbers are pixels; `y` is a part of the height.
_MARGINS = {"l": 8, "r": 8, "t": 8, "b": 8}
_LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"}
_THEME = {"margin": _MARGINS, "legend": _LEGEND, "bargap": 0.25, "hoverlabel": {"align": "left", "namelength": -1}}
_AXIS = {"automargin": True}

#: Axes of shares from 0 to 1, and of numbers from 0 on.
SHARE: Axis = {"range": [0, 1.02], "tickformat": ".0%"}
FROM_ZERO: Axis = {"rangemode": "tozero"}

#: Pixels: of the horizontal axis with its title, of a plane, and of the lowest figure.
_AROUND, _PLANE, _LOWEST = 64, 280, 170
#: Characters of a name in a legend, and of a line of a label at an axis.
_NAME, _LABEL = 40, 42


@dataclass(frozen=True)
class Chart:
    """A figure, and a sentence in its place for readers who cannot see it."""

    figure: go.Figure
    alt: str


@dataclass(frozen=True)
class Panel:
    """One of several small pictures in a figure. height: in pixels, without axis and title."""

    marks: Sequence[BaseTraceType]
    title: str = ""
    x: Axis = field(default_factory=dict)
    y: Axis = field(default_factory=dict)
    height: int = 200


def bars(
    values: Values,
    *,
    name: str = "",
    style: Style | Sequence[Style] = STYLES[0],
    at: Sequence[float | str] | None = None,
    begin: Sequence[float] | None = None,
    text: Sequence[str] = (),
    hover: str | Sequence[str] = "",
    upright: bool = False,
) -> BaseTraceType:
    """Bars from left to right, or upright ones, of one style or each of its own.

    at: their places on the other axis, by default 0, 1, .... begin: where each starts. text: stands at the end of each
    bar, since hatching makes text unreadable. hover: a text for each, or one of plotly's templates for all.
    """
    along, across = ("y", "x") if upright else ("x", "y")
    styles = [style] if isinstance(style, Style) else style
    colors, patterns = [one.color for one in styles], [one.pattern for one in styles]
    one_style = isinstance(style, Style)
    return go.Bar(
        {
            along: _numbers(values),
            across: list(range(len(values)) if at is None else at),
            "orientation": "v" if upright else "h",
            "base": begin,
            "marker": {
                "color": colors[0] if one_style else colors,
                "pattern": {
                    "shape": patterns[0] if one_style else patterns,
                    "fgcolor": "rgba(255,255,255,0.8)",
                    "fillmode": "overlay",
                },
            },
            f"error_{along}": _intervals(values, INTERVAL_GREY, thickness=2),
            "text": [as_plotly(each) for each in text] or None,
            "textposition": "outside" if text else "none",
            "cliponaxis": not text,
            **_words(name, hover),
        }
    )


def dots(
    x: Values,
    y: Values,
    *,
    name: str = "",
    style: Style = STYLES[0],
    size: float = 9,
    hollow: Sequence[bool] = (),
    hover: str | Sequence[str] = "",
) -> BaseTraceType:
    """A symbol for each point, with its intervals. hollow: of each point, whether only its outline is drawn."""
    marker = {
        "symbol": [f"{style.symbol}-open" if flag else style.symbol for flag in hollow] or style.symbol,
        "color": style.color,
        "size": size,
        "line": {"width": 2, "color": style.color},
    }
    return _points(x, y, style, _words(name, hover) | {"mode": "markers", "marker": marker})


def line(
    x: Values,
    y: Values,
    *,
    name: str = "",
    style: Style = STYLES[0],
    width: float = 2,
    marked: Literal["nowhere", "everywhere", "end"] = "nowhere",
    steps: bool = False,
    shaded: bool = False,
    hover: str | Sequence[str] = "",
) -> BaseTraceType:
    """A line through points, with the intervals of these; `marked` with the style's symbol at none, all, or the last.

    steps: keep the height until the next point. shaded: fill the area between it and the line before.
    """
    size = 6 if marked == "everywhere" else [0] * (len(x) - 1) + [9]
    drawn: dict[str, Any] = {
        "mode": "lines" if marked == "nowhere" else "lines+markers",
        "line": {"color": style.color, "dash": style.dash, "width": width, "shape": "hv" if steps else "linear"},
    }
    if marked != "nowhere":
        drawn["marker"] = {"symbol": style.symbol, "color": style.color, "size": size}
    if shaded:
        drawn |= {"fill": "tonexty", "fillcolor": "rgba(86,180,233,0.22)"}
    return _points(x, y, style, _words(name, hover) | drawn)


def band(x: Sequence[float], values: Sequence[Estimate]) -> list[BaseTraceType]:
    """The intervals of values along a line, as a shade behind it."""
    return [
        line(x, [value.high for value in values], width=0),
        line(x, [value.low for value in values], width=0, shaded=True),
    ]


def heat_map(values: Sequence[Sequence[float]], scale: str, hover: Sequence[Sequence[str]]) -> BaseTraceType:
    """Rows of shares from 0 up, the larger the bluer; 0 shows the background. scale: the title of the colour scale."""
    return go.Heatmap(
        z=values,
        x=list(range(max(map(len, values), default=0))),
        y=list(range(len(values))),
        zmin=0.0,
        zmax=max((max(shares) for shares in values), default=1.0) or 1.0,
        colorscale=[[0.0, "rgba(0,114,178,0.03)"], [1.0, "rgba(0,114,178,1)"]],
        colorbar={"title": {"text": scale}, "thickness": 12, "tickformat": ".0%"},
        customdata=[[as_plotly(each) for each in texts] for texts in hover],
        hovertemplate="%{customdata}: %{z:.1%}<extra></extra>",
        xgap=1,
        ygap=1,
    )


def chart(
    marks: Sequence[BaseTraceType],
    alt: str,
    *,
    x: Axis | None = None,
    y: Axis | None = None,
    y_labels: Sequence[str] | None = None,
    height: int = 0,
    row_height: int = 26,
    **layout: Any,
) -> Chart:
    """Marks on one pair of axes. y_labels: of the places 0, 1, ... from the top, each `row_height` pixels high.

    There is a legend where there are several names, and `height` grows with it where it is not given.
    """
    names = {mark.name for mark in marks if mark.name}
    layout.setdefault("showlegend", len(names) > 1)
    if not height:
        height = _PLANE if y_labels is None else _AROUND + row_height * len(y_labels)
        height = max(_LOWEST, height + (20 + 14 * len(names) if layout["showlegend"] else 0))
    figure = go.Figure(list(marks), _THEME | {"height": height} | layout)
    figure.update_xaxes(_AXIS | (x or {}))
    figure.update_yaxes(_AXIS | (listed(y_labels) if y_labels is not None else {}) | (y or {}))
    return Chart(figure, alt)


def panels(
    parts: Sequence[Panel],
    alt: str,
    *,
    across: int = 1,
    gap: int = 40,
    x: Axis | None = None,
    y: Axis | None = None,
    **layout: Any,
) -> Chart:
    """Small pictures on the same scale, `across` in a row, with one legend. gap: pixels between two rows.

    x, y: settings of all axes; a panel's own come on top.
    """
    rows = -(-len(parts) // across)
    heights = [max(part.height for part in parts[row * across : (row + 1) * across]) for row in range(rows)]
    drawn = sum(heights) + gap * (rows - 1)
    titles = [_label(part.title, 60) for part in parts]
    figure = make_subplots(
        rows=rows,
        cols=across,
        specs=[[{} if row * across + column < len(parts) else None for column in range(across)] for row in range(rows)],
        shared_xaxes="all" if across == 1 else False,
        shared_yaxes=across > 1,
        row_heights=heights,
        horizontal_spacing=0.03,
        vertical_spacing=gap / drawn if rows > 1 else None,
        subplot_titles=titles if any(titles) else None,
    )
    figure.update_annotations(font={"size": 11})
    figure.update_xaxes(_AXIS | (x or {}))
    figure.update_yaxes(_AXIS | (y or {}))
    seen: set[str] = set()
    for place, part in enumerate(parts):
        row, column = place // across + 1, place % across + 1
        for mark in part.marks:
            mark.update(legendgroup=mark.name, showlegend=bool(mark.name) and mark.name not in seen)
            seen |= {mark.name} if mark.name else set()
            figure.add_trace(mark, row=row, col=column)
        figure.update_xaxes(part.x, row=row, col=column)
        figure.update_yaxes(part.y, row=row, col=column)
    top = 8 + 18 * (max(title.count("<br>") for title in titles) + 1 if any(titles) else 0)
    legend = 20 + 14 * len(seen) if layout.setdefault("showlegend", len(seen) > 1) else 0
    high = {"height": drawn + _AROUND + top + legend, "margin": _MARGINS | {"t": top + legend}}
    above = {"legend": _LEGEND | {"yref": "container", "y": 1.0, "yanchor": "top"}}
    figure.update_layout(_THEME | high | above | layout)
    return Chart(figure, alt)


def labelled(labels: Sequence[str]) -> dict[str, Any]:
    """An axis with these texts at 0, 1, ...; places are numbers, since two texts may be cut to the same label."""
    return {
        "tickmode": "array",
        "tickvals": list(range(len(labels))),
        "ticktext": [_label(label, _LABEL) for label in labels],
    }


def listed(labels: Sequence[str]) -> dict[str, Any]:
    """The same from the top down."""
    return labelled(labels) | {"autorange": "reversed", "ticklabelstandoff": 6, "zeroline": False}


def powers(most: float, least: float = 1.0) -> dict[str, Any]:
    """A logarithmic axis with numbers at 1, 2, 5, 10, ... between these."""
    ticks = [digit * 10.0**power for power in range(-3, 7) for digit in (1, 2, 5)]
    ticks = [tick for tick in ticks if least <= tick <= most]
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:,.10g}" for tick in ticks]}


def level(
    figure: go.Figure, value: float, name: str = "", style: Style = STYLES[1], place: str = "top right", **cell: Any
) -> None:
    """A line across a figure, or a `cell` of it ("row", "col"), at a value of the vertical axis, with its name."""
    drawn: dict[str, Any] = {"line": {"color": style.color, "dash": style.dash, "width": 1.5}}
    if name:  # without one, plotly would write its own
        drawn |= {"annotation_text": as_plotly(name), "annotation_font": {"size": 12}, "annotation_position": place}
    figure.add_hline(y=value, **drawn, **cell)
    if name and figure.layout.yaxis.type == "log":
        figure.layout.annotations[-1].y = math.log10(value)  # shapes are placed by values there, texts by powers


def thinned(count: int, most: int = 1_000) -> list[int]:
    """About `most` of the places 0 to count - 1, evenly, the last among them: a screen cannot show more."""
    step = max(1, -(-count // most))
    return sorted({*range(0, count, step), count - 1}) if count else []


def saved_as(picture: str, name: str) -> dict[str, Any]:
    """`CONFIG` for a figure that is saved as "svg" or "png" under a name, twice as large."""
    return CONFIG | {"toImageButtonOptions": {"format": picture, "filename": name, "scale": 2}}


def _points(x: Values, y: Values, style: Style, drawn: dict[str, Any]) -> BaseTraceType:
    return go.Scatter(
        x=_numbers(x),
        y=_numbers(y),
        error_x=_intervals(x, style.color, thickness=1.5, width=4),
        error_y=_intervals(y, style.color, thickness=1.5, width=4),
        **drawn,
    )


def _numbers(values: Values) -> list[Any]:
    return [getattr(value, "value", value) for value in values]


def _intervals(values: Values, color: str, **style: float) -> dict[str, Any] | None:
    """Error bars from the low to the high end of estimates; none where there are none, or all are exact."""
    ends = [(value.value, value.low, value.high) for value in values if hasattr(value, "high")]
    if all(low == high for _, low, high in ends):
        return None
    return {
        "type": "data",
        "symmetric": False,
        "array": [max(high - value, 0.0) for value, _, high in ends],
        "arrayminus": [max(value - low, 0.0) for value, low, _ in ends],
        "color": color,
        **style,
    }


def _words(name: str, hover: str | Sequence[str]) -> dict[str, Any]:
    """The name in the legend, and the text under the mouse."""
    words: dict[str, Any] = {"name": _label(name, _NAME), "showlegend": None} if name else {"showlegend": False}
    if isinstance(hover, str):
        return words | ({"hovertemplate": f"{hover}<extra></extra>"} if hover else {"hoverinfo": "skip"})
    return words | {"hovertext": [_label(text) for text in hover], "hovertemplate": "%{hovertext}<extra></extra>"}


def _label(text: str, length: int = 1_000) -> str:
    return "<br>".join(as_plotly(shortened(part, length)) for part in text.split("\n"))
