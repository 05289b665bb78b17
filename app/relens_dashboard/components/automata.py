"""Both automata of the query side by side, with their sizes and notes."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from relens.counted import counted
from relens.runs.preview import Graph
from relens_dashboard.components.automaton_view import automaton_view
from relens_dashboard.components.gallery_cards import gallery_links
from relens_dashboard.components.pin_button import pin_button
from relens_dashboard.gallery import load_gallery
from relens_dashboard.glossary import term
from relens_dashboard.live_preview import Drawn
from relens_dashboard.present.pinned import automaton_finding
from relens_dashboard.services import Services
from relens_dashboard.text import as_markdown

_EXAMPLES_OFFERED = 6


def automata(services: Services, drawn: Drawn | None, model: str, *, fresh: bool) -> None:
    """Show them, or a few examples where there is no query.

    model: the owner of the tokens. fresh: whether they are of the query in the fields now.
    """
    if drawn is None:
        st.caption("The automata of your query are drawn here while you type. Or start from an example:")
        gallery_links(load_gallery()[:_EXAMPLES_OFFERED])
        return
    if not fresh:
        st.caption("These are the automata of the last query that could be drawn.")
    preview = drawn.preview
    grid = st.grid(2, min_column_width=420, gap="medium")
    sides = (
        (
            "Automaton of the language",
            "character by character",
            "automaton",
            drawn.language,
            preview.language_graph,
            _sizes(preview.language_states, preview.language_arcs),
            "language_automaton",
        ),
        (
            "Automaton of the model's tokens",
            "token by token",
            "token",
            drawn.tokens,
            preview.token_graph,
            _sizes(preview.token_states, preview.token_arcs),
            "token_automaton",
        ),
    )
    for title, how, what, picture, graph, sizes, key in sides:
        with grid.cell():
            st.markdown(f"**{title}**, {how}", help=term(what))
            if picture is None or graph is None:
                st.caption("Drawn once the tokenizer of this model is on this server.")
                continue
            automaton_view(
                picture,
                key=key,
                name=key.replace("_", "-"),
                alt=f"{title}: {sizes}",
                question=repr(drawn.query),
                height=330,
            )
            st.caption(" · ".join([sizes, *_legend(graph, picture.note)]))
            if picture.svg is not None:
                pin_button(
                    services,
                    lambda title=title, sizes=sizes, picture=picture: automaton_finding(
                        drawn.query, model, title, sizes, picture.svg, picture.note
                    ),
                    key=f"pin_{key}",
                )
    cut = drawn.language.note or (drawn.tokens is not None and drawn.tokens.note)
    if cut or st.session_state.get("large_drawings"):
        st.toggle("Larger drawings", key="large_drawings", help="Draw more states. Takes longer, and more zooming.")


def _sizes(states: int | None, arcs: int | None) -> str:
    if states is None or arcs is None:
        return "Too large to count: built during the search"
    return f"{counted(states, 'state')}, {counted(arcs, 'arc')}"


def _legend(graph: Graph, note: str) -> Sequence[str]:
    parts = []
    if any(arc.in_prefix for arc in graph.arcs):
        parts.append("prefix in orange")
    parts.append("double circle: a match may end here")
    if note:
        parts.append(as_markdown(note))
    return parts
