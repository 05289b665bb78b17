"""The first screen: what this is, in plain words and one picture."""

from __future__ import annotations

import streamlit as st

from app.components.frame import ASSETS

# A component and not plain HTML, which would be stripped of the drawing; it takes its colour from the theme.
_IDEA = st.components.v2.component(
    "relens.idea",
    html=(ASSETS / "idea.svg").read_text(encoding="utf-8"),
    css=":host, svg { color: var(--st-text-color); width: 100%; height: auto; }",
)


def welcome() -> None:
    """Show it."""
    words, picture = st.columns([5, 6], gap="large", vertical_alignment="center")
    with words:
        st.html(
            '<h1 class="relens-title">Ask a language model<br>with a regular expression</h1>'
            '<p class="relens-lead">Write the <i>form</i> of an answer, such as a date, an address, or one of ten '
            "words. Relens finds everything of that form which the model can write, the likeliest first, each with its "
            "exact probability: what is not shown is less likely than what is. Or it tells how probability is shared "
            "among answers, exactly or by a sample.</p>"
            '<p class="relens-lead small">Use it to see what a model has memorized, what it knows, what it believes '
            "about people, and how likely it is ever to say something.</p>"
        )
        if st.button("Write your own query", type="primary", icon=":material/edit:", key="own_query"):
            st.switch_page(st.session_state["workbench_page"])
    with picture:
        _IDEA(key="idea")
