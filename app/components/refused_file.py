"""Files that are made when somebody asks for them, and why one could not be made.

Such a file is made when its button is pressed, beside the page, where nothing can be drawn: the browser can only say
that it failed. So the sentence of the error is kept, and shown when the page is drawn next.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app.components.messages import show_error
from engine.errors import RelensError

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
    """Why the file could not be made when it was asked for last; nothing where it could."""
    sentence = st.session_state.get(_REFUSED, {}).get(key)
    if sentence:
        show_error(sentence)
