"""A deck shown over the whole page: the very file that is exported, in a sandboxed frame.

The frame tells the page which screen one is at, and the browser side writes it into the address without running the
page again, so a reload comes back to it. Only leaving runs the page.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from app.present.deck_file import deck_html, deck_name
from engine.runs.screens import Screen

_ASSETS = Path(__file__).resolve().parents[2] / "assets"
HTML = '<div class="place"></div>'
SCRIPT = (_ASSETS / "show_deck.js").read_text(encoding="utf-8")
_VIEW = st.components.v2.component(
    "relens.show_deck", html=HTML, css=(_ASSETS / "show_deck.css").read_text(encoding="utf-8"), js=SCRIPT
)


def show_deck(screens: Sequence[Screen], deck: str, number: int) -> bool:
    """Show the deck from screen `number` (from 1) on; whether it was left."""
    theme = "dark" if st.context.theme.type == "dark" else "light"
    html = deck_html(screens, deck, theme=theme, shown=True)
    version = hashlib.sha256(html.encode("utf-8", "replace")).hexdigest()[:16]
    shown = _VIEW(
        data={
            "html": html.encode("utf-8", "replace").decode(),
            "version": version,
            "screen": min(max(number, 1), max(len(screens), 1)),
            "name": f"Screens of {deck_name(deck)}",
        },
        key="show_deck",
        on_left_change=lambda: None,
    )
    return bool(shown.left)
