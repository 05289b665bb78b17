"""A deck shown over the whole page: the exported file, in a sandboxed frame.

    page        sends the file without its figures, and the figure of the first screen
    browser     shows it; the speaker goes to screen 4, whose figure is missing: "wanted": 4
    page        sends the figure of screen 4                                    (only this fragment runs)

The browser writes the current screen into the address without running the page again, so a reload comes back to it. A
deck of a hundred figures of 2 MB is never sent as a whole: the browser keeps figures, and requests the next one while
the speaker shows one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from relens.assets import ASSETS
from relens.errors import RelensError
from relens.runs.screens import Card
from relens_dashboard.messages import show_error
from relens_dashboard.present.deck_file import Theme, deck_name, shown_deck, shown_figure
from relens_dashboard.services import Services

HTML = '<div class="place"></div>'
SCRIPT = (ASSETS / "show_deck.js").read_text(encoding="utf-8")
_VIEW = st.components.v2.component(
    "relens.show_deck", html=HTML, css=(ASSETS / "show_deck.css").read_text(encoding="utf-8"), js=SCRIPT
)
_KEY = "show_deck"
#: In the session: whether the next run sends the whole file, and not only a figure.
_WHOLE = "show_deck_whole"


def show_deck(services: Services, cards: Sequence[Card], deck: str, number: int, address: str) -> None:
    """Show the deck from screen `number` (from 1) on. address: the parameter of the screen, removed on leaving."""
    st.session_state[_WHOLE] = True
    plain = [replace(card, preview=None) for card in cards]
    first = min(max(number, 1), max(len(cards), 1))
    with st.container():
        st.fragment(_deck, key="shown_deck")(services, plain, deck, first, address)


def _deck(services: Services, cards: Sequence[Card], deck: str, first: int, address: str) -> None:
    theme: Theme = "dark" if st.context.theme.type == "dark" else "light"
    requested = _requested(first)
    # 0: the browser has lost the file.
    html = shown_deck(cards, deck, theme) if st.session_state.pop(_WHOLE, False) or not requested else ""
    number = requested or first
    try:
        figure = _figure(services, cards, number)
    except RelensError as error:
        show_error(error)
        figure = ""
    shown = _VIEW(
        data={
            "html": html.encode("utf-8", "replace").decode(),
            "version": _version(cards, deck, theme),
            "screen": first,
            "name": f"Screens of {deck_name(deck)}",
            "figures": [place for place, card in enumerate(cards, 1) if card.has_figure],
            "number": number,
            "figure": figure,
        },
        key=_KEY,
        default={"wanted": None},
        on_left_change=lambda: None,
        on_wanted_change=lambda: None,
    )
    if shown.left:
        st.query_params.pop(address, None)
        st.rerun()


def _requested(first: int) -> int:
    """The screen whose figure the browser requests."""
    held = st.session_state.get(_KEY)
    requested = held.get("wanted") if isinstance(held, Mapping) else None
    number = requested.get("number") if isinstance(requested, Mapping) else first
    return number if isinstance(number, int) else first


def _figure(services: Services, cards: Sequence[Card], number: int) -> str:
    """The figure of a screen as the file's script draws it; "" where there is none."""
    if not 1 <= number <= len(cards) or not cards[number - 1].has_figure:
        return ""
    screen = services.screens.get(cards[number - 1].screen.id)
    return "" if screen is None else shown_figure(screen.figure)


def _version(cards: Sequence[Card], deck: str, theme: str) -> str:
    shown = repr((deck, theme, [(card.screen, card.has_figure) for card in cards]))
    return hashlib.sha256(shown.encode("utf-8", "replace")).hexdigest()[:16]
