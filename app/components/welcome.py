"""The first screen: what this is, in plain words and one picture."""

from __future__ import annotations

import streamlit as st

from app.components.frame import ASSETS


def welcome() -> None:
    """Show it."""
    words, picture = st.columns([5, 6], gap="large", vertical_alignment="center")
    with words:
        st.html(
            '<h1 class="relens-title">Ask a language model<br>with a regular expression</h1>'
            '<p class="relens-lead">Write the <i>form</i> of an answer, such as a date, an address, or one of ten '
            "words. Relens finds everything of that form which the model can write, the likeliest first, each with its "
            "exact probability. No sampling and no guessing: what is not shown is less likely than what is.</p>"
            '<p class="relens-lead small">Use it to see what a model has memorized, what it knows, what it believes '
            "about people, and how likely it is ever to say something.</p>"
        )
        st.page_link(st.session_state["workbench_page"], label="Write your own query", icon=":material/edit:")
    with picture:
        st.html(f'<div class="relens-idea">{(ASSETS / "idea.svg").read_text(encoding="utf-8")}</div>')
