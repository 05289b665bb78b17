"""The frame of every page: title, icon, styles, and the sentence of an error that stops the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from relens.assets import ASSETS
from relens.errors import RelensError
from relens_dashboard.components.ticker import ticker
from relens_dashboard.messages import show_error
from relens_dashboard.text import as_html

_LOOK_AGAIN = 3.0
#: In the session: whether the clock under an error was drawn with it, and has not ticked yet.
_WAITS = "error_waits"


def frame() -> None:
    """Set up the page; the first Streamlit call of a script run."""
    st.set_page_config(page_title="Relens", page_icon=str(ASSETS / "icon.svg"), layout="wide")
    st.logo(str(ASSETS / "wordmark.svg"), size="large")
    st.html(ASSETS / "style.css")


def name_page(title: str) -> None:
    """Name the page in the browser's tab; a screen reader reads this first."""
    st.set_page_config(page_title=f"{title} · Relens")


@contextmanager
def sentence_of_error(title: str) -> Iterator[None]:
    """Show the sentence of an error that ends the page of this title, and draw the page anew after a while.

    A store with a damaged file or a missing folder is such an error, on every page.
    """
    try:
        yield
    except RelensError as error:
        st.html(f'<h1 class="relens-title study">{as_html(title)}</h1>')
        show_error(error)
        st.caption("Relens tries again every few seconds and shows the page once this works.")
        st.session_state[_WAITS] = False
        with st.container():
            st.fragment(_draw_anew, key="draw_anew")()


def _draw_anew() -> None:
    """A clock whose tick draws the whole page."""
    if st.session_state[_WAITS]:
        st.rerun()
    st.session_state[_WAITS] = True
    ticker(_LOOK_AGAIN, key="error")
