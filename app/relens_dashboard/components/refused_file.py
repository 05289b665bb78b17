"""Files that are made when their button is pressed, and the errors of doing so.

Such a file is made outside the page, where nothing can be drawn: the browser only shows that it failed. So the sentence
of the error is kept, and the next drawing of the page shows it.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from relens.errors import RelensError
from relens_dashboard.messages import show_error

_REFUSED = "refused_files"


def file_or_refusal(key: str, make: Callable[[], bytes]) -> Callable[[], bytes]:
    """`make` for a download button, with its error kept for `show_refusal` of the same key."""
    refused: dict[str, str] = st.session_state.setdefault(_REFUSED, {})

    def made() -> bytes:
        refused.pop(key, None)
        try:
            return make()
        except RelensError as error:
            refused[key] = error.sentence
            raise

    return made


def show_refusal(key: str) -> None:
    """Show the error of the last request for the file, if there was one."""
    sentence = st.session_state.get(_REFUSED, {}).get(key)
    if sentence:
        show_error(sentence)
