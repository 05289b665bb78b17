"""The foot of every page: its terms, each with its meaning."""

from __future__ import annotations

import streamlit as st

from relens_dashboard.page_words import words_html


def page_words(page: str) -> None:
    """Show the terms of a page, named by the last part of its address."""
    line = words_html(page)
    if line:
        st.html(line)
