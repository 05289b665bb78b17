"""What is around every page: title, icon, styles, and what stands there where the page cannot be drawn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from app.components.messages import show_error
from app.components.ticker import ticker
from app.text import as_html
from engine.errors import RelensError

ASSETS = Path(__file__).resolve().parents[2] / "assets"

_LOOK_AGAIN = 3.0
#: In the session: whether the clock under an error was drawn with it, and has not ticked yet.
_WAITS = "error_waits"


def frame() -> None:
    """Set up the page; the first Streamlit call of a script run."""
    st.set_page_config(page_title="Relens", page_icon=str(ASSETS / "icon.svg"), layout="wide")
    st.logo(str(ASSETS / "wordmark.svg"), size="large")
    st.html(ASSETS / "style.css")


def name_page(title: str) -> None:
    """Say in the browser's tab which page this is; it is also the first that who hears the page hears of it."""
    st.set_page_config(page_title=f"{title} · Relens")


@contextmanager
def sentence_of_error(title: str) -> Iterator[None]:
    """Where the page of that title ends in an error that has a sentence, show it, and draw the page anew after a while.

    A store whose file is damaged, or whose folder is not there, is such an error, whatever page is opened.
    """
    try:
        yield
    except RelensError as error:
        st.html(f'<h1 class="relens-title study">{as_html(title)}</h1>')
        show_error(error)
        st.caption("Relens looks again every few seconds, and shows the page once this is mended.")
        st.session_state[_WAITS] = False
        with st.container():
            st.fragment(_draw_anew, key="draw_anew")()


def _draw_anew() -> None:
    """A clock that draws the whole page when it ticks."""
    if st.session_state[_WAITS]:
        st.rerun()
    st.session_state[_WAITS] = True
    ticker(_LOOK_AGAIN, key="error")
