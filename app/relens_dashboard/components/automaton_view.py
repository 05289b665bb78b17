"""The viewer of an automaton: pan, zoom, search, move by keyboard, see the details of a state, save.

A Components-v2 viewer around an SVG that `relens.pictures.drawing` had `dot` lay out. The drawing keeps no colours of
its own; the style sheets give them from the page's theme, by class. Although `dot` escapes what it writes, the SVG is
data to the browser side: it is parsed as XML, and only the few elements and attributes that a drawing needs are copied.

    assets/automaton_view/  view.html             the frame: drawing, search, details, menu, keys
                            view.css, drawing.css styles of the frame, and of the drawing alone
                            canvas.js             the visible part: pan, zoom, touch
                            parts.js              states and arcs: focus, search, selection
                            save.js               SVG, PNG, DOT
                            view.js               the viewer, which wires them

Where `dot` is not installed the same DOT goes to `st.graphviz_chart`, which draws in the browser without these
comforts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

from relens.assets import ASSETS
from relens_dashboard.picture import Picture

_FILES = ASSETS / "automaton_view"


def _asset(name: str) -> str:
    return (_FILES / name).read_text(encoding="utf-8")


HTML = _asset("view.html")
_SCRIPTS = [_asset(name) for name in ("canvas.js", "parts.js", "save.js", "view.js")]
# A component has one script; a saved drawing contains its style.
SCRIPT = "\n".join([f"const DRAWING_STYLE = {json.dumps(_asset('drawing.css'))}", *_SCRIPTS])
_VIEWER = st.components.v2.component(
    "relens.automaton_view", html=HTML, css=_asset("drawing.css") + _asset("view.css"), js=SCRIPT
)


@dataclass(frozen=True)
class Selected:
    """The clicked part: a state by its number, or an arc by its place in the picture's `graph.arcs`."""

    kind: Literal["state", "arc"]
    number: int


def automaton_view(
    picture: Picture,
    *,
    key: str,
    name: str,
    alt: str,
    question: str = "",
    height: int = 300,
    selectable: bool = False,
) -> Selected | None:
    """Show `picture`. name: of the saved file. alt: its description for readers who cannot see it.

    question: identifies the query, since two queries may have the same drawing; the viewer's frame has it once its
    drawing is there. The viewer always shows the details of a chosen state or arc; with `selectable` the page also runs
    again after each choice and gets it here.
    """
    if picture.svg is None:
        st.graphviz_chart(picture.dot, width="stretch", alt=alt)
        return None
    # With other marks it is another drawing of the same graph: the chosen part stays chosen.
    graph = _digest(repr(picture.graph))
    shown = _VIEWER(
        data={
            "svg": picture.svg,
            "dot": picture.dot,
            "details": picture.details,
            "ends": [(arc.source, arc.target) for arc in picture.graph.arcs],
            "version": _digest(picture.dot),
            "graph": graph,
            "question": _digest(question),
            "height": height,
            "alt": alt,
            "name": name,
            "selectable": selectable,
        },
        key=key,
        height=height,
        default={"selected": None},
        on_selected_change=lambda: None,
    )
    return _selected(shown.get("selected"), picture, graph) if selectable else None


def _selected(value: Any, picture: Picture, graph: str) -> Selected | None:
    """The browser's choice, if it is of this graph and not of an earlier one."""
    if not isinstance(value, Mapping) or value.get("graph") != graph:
        return None
    part = str(value.get("part"))
    if part not in picture.details:
        return None
    kind, number = part.split("-")
    return Selected("state" if kind == "state" else "arc", int(number))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
