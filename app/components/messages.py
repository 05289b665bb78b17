"""Errors and warnings as boxes. What they quote may come from anybody, so it is kept from being read as Markdown."""

from __future__ import annotations

import streamlit as st

from app.text import as_markdown
from engine.errors import RelensError


def show_error(error: RelensError | str) -> None:
    """The one sentence of an error."""
    st.error(as_markdown(str(error)), icon=":material/error:")


def show_no_model() -> None:
    """Why nothing can be asked on a server that may load no model."""
    show_error("There is no model here that could be asked; the operator names those that may be (RELENS_MODELS).")


def show_warning(sentence: str) -> None:
    """One sentence of warning."""
    st.warning(as_markdown(sentence), icon=":material/warning:")
