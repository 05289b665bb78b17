"""The foot of every page: its terms, each with what it means."""

from __future__ import annotations

import streamlit as st

from app.page_words import words_html


def page_words(page: str) -> None:
    """Show the terms of the page with this last part of an address, where it has any."""
    line = words_html(page)
    if line:
        st.html(line)
