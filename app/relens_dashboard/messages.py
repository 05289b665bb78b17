"""Errors and warnings as boxes, and actions that may fail. Quoted text may come from anybody: Markdown is escaped."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from relens.errors import RelensError
from relens_dashboard.text import as_markdown


def show_error(error: RelensError | str) -> None:
    """The one sentence of an error."""
    st.error(as_markdown(str(error)), icon=":material/error:")


def show_no_model() -> None:
    """The error of a server that may load no model."""
    show_error("This server may load no model. The operator names the allowed models in RELENS_MODELS.")


def show_warning(sentence: str) -> None:
    """One sentence of warning."""
    st.warning(as_markdown(sentence), icon=":material/warning:")


def act(action: Callable[[], object]) -> None:
    """Do something and draw the page anew; or show the error."""
    try:
        action()
    except RelensError as error:
        show_error(error)
        return
    st.rerun()
