"""What is around every page: title, icon, styles."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

ASSETS = Path(__file__).resolve().parents[2] / "assets"


def frame() -> None:
    """Set up the page; the first Streamlit call of a script run."""
    st.set_page_config(page_title="Relens", page_icon=str(ASSETS / "icon.svg"), layout="wide")
    st.logo(str(ASSETS / "wordmark.svg"), size="large")
    st.html(ASSETS / "style.css")


def name_page(title: str) -> None:
    """Say in the browser's tab which page this is; it is also the first that who hears the page hears of it."""
    st.set_page_config(page_title=f"{title} · Relens")
