"""The first screen: Relens in plain words and one picture."""

from __future__ import annotations

import streamlit as st

from relens_dashboard.components.tour import idea, open_tour, tour_is_open

_TITLE = "Ask a language model<br>with a regular expression"
_LEAD = (
    "Write the <i>form</i> of an answer, such as a date, an address, or one of ten words. Relens finds everything of "
    "that form which the model can write, the likeliest first, each with its exact probability."
)


def welcome() -> None:
    """Show it; without the picture while the tour is open, whose first step has it."""
    if tour_is_open():
        st.html(
            f'<h1 class="relens-title">{_TITLE.replace("<br>", " ")}</h1>'
            f'<p class="relens-lead" style="max-width:60rem">{_LEAD}</p>'
        )
        return
    words, picture = st.columns([5, 6], gap="large", vertical_alignment="center")
    with words:
        st.html(
            f'<h1 class="relens-title">{_TITLE}</h1>'
            f'<p class="relens-lead">{_LEAD} Whatever is not shown is less likely. Relens also shows how probability '
            "is shared among answers, exactly or by a sample.</p>"
            '<p class="relens-lead small">Use it to see what a model has memorized, what it knows, what it believes '
            "about people, and how likely it is ever to say something.</p>"
        )
        with st.container(horizontal=True, gap="small"):
            if st.button(
                "Write your own query",
                type="primary",
                icon=":material/edit:",
                key="own_query",
                help="Opens the Workbench with empty fields.",
            ):
                st.switch_page(st.session_state["workbench_page"])
            st.button(
                "Tour",
                icon=":material/tour:",
                key="tour_button",
                on_click=open_tour,
                help="Five short steps: asking with a pattern, typing, automata, running, and the other pages.",
            )
    with picture:
        idea(key="idea")
