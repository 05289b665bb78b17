"""An automaton to look at closely: pan, zoom, fit, full screen, save.

A Components-v2 viewer around an SVG that `app.drawing` had `dot` lay out. The drawing keeps no colours of its own; the
style sheet here gives them from the page's theme, by class. Although `dot` escapes what it writes, the SVG is data to
the browser side: it is parsed as XML, and only the few elements and attributes that a drawing needs are copied.

Where `dot` is not installed the same DOT goes to `st.graphviz_chart`, which draws in the browser without these
comforts.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import streamlit as st

from app.live_preview import Picture

_ASSETS = Path(__file__).resolve().parents[2] / "assets"
_VIEWER = st.components.v2.component(
    "relens.automaton_view",
    html=(_ASSETS / "automaton_view.html").read_text(encoding="utf-8"),
    css=(_ASSETS / "automaton_view.css").read_text(encoding="utf-8"),
    js=(_ASSETS / "automaton_view.js").read_text(encoding="utf-8"),
)


def automaton_view(picture: Picture, *, key: str, name: str, alt: str, question: str = "", height: int = 300) -> None:
    """Show `picture`; `name` is the file it is saved under, `alt` says what it is to who cannot see it.

    `question` identifies what was asked, and is put on the viewer's frame when its drawing is there: two queries may
    well have the same drawing.
    """
    if picture.svg is None:
        st.graphviz_chart(picture.dot, width="stretch", alt=alt)
        return
    _VIEWER(
        data={
            "svg": picture.svg,
            "version": _digest(picture.dot),
            "question": _digest(question),
            "height": height,
            "alt": alt,
            "name": name,
        },
        key=key,
        height=height,
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
