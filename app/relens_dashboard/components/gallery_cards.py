"""The gallery as cards: queries that open the Workbench filled in, and other pages.

At first it shows one or two cards of each kind; the topics show the others.
"""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from relens_dashboard import links
from relens_dashboard.components.fill import query_link
from relens_dashboard.form import DEFAULT_MODEL, Form
from relens_dashboard.gallery import Example
from relens_dashboard.places import Place
from relens_dashboard.text import as_html, visible

_FIRST, _ALL = "To begin with", "All"
#: The first cards: examples by their id, places by their title.
_IN_SIGHT = ("birth-date", "cat-dog", "bias", "From a pattern to an automaton", "Memorization", "Present a finding")


def gallery(examples: tuple[Example, ...], places: tuple[Place, ...]) -> None:
    """Show the topics, and the cards of the chosen one."""
    topics = dict.fromkeys(entry.topic for entry in (*examples, *places))
    topic = st.pills(
        "Topic",
        [_FIRST, *topics, _ALL],
        default=_FIRST,
        required=True,
        key="topic",
        bind="query-params",
        label_visibility="collapsed",
        help="Which examples are shown.",
    )

    def belongs(entry: Example | Place, name: str) -> bool:
        return topic in (_ALL, entry.topic) or (topic == _FIRST and name in _IN_SIGHT)

    gallery_cards(
        tuple(example for example in examples if belongs(example, example.id)),
        tuple(place for place in places if belongs(place, place.title)),
    )


def gallery_cards(examples: tuple[Example, ...], places: tuple[Place, ...] = ()) -> None:
    """Show a card for each example and each place."""
    grid = st.grid(3, min_column_width=300, gap="small", border=True)
    for example in examples:
        with grid.cell():
            st.html(card_html(example))
            _open(example, st.session_state["workbench_page"], f"Open: {example.title}")
    for place in places:
        with grid.cell():
            st.html(place_html(place))
            st.page_link(
                st.session_state["pages"][place.page],
                label=f"Open: {place.title}",
                icon=":material/arrow_forward:",
                query_params=dict(place.parameters),
                help=place.question,
            )


def gallery_links(examples: tuple[Example, ...]) -> None:
    """Show a few examples as a row of links."""
    with st.container(horizontal=True, gap="small"):
        for example in examples:
            query_link(example.title, _form(example), None, sign="→", help=example.question)


def _open(example: Example, workbench: StreamlitPage, label: str) -> None:
    st.page_link(
        workbench,
        label=label,
        icon=":material/arrow_forward:",
        query_params=links.parameters(_form(example)),
        help=example.question,
    )


def _form(example: Example) -> Form:
    return Form.from_specification(example.specification(DEFAULT_MODEL))


def card_html(example: Example) -> str:
    """The words of a card; the query's own text escaped."""
    prefix = f'<span class="given">{as_html(visible(example.query.prefix, spaces=False))}</span>'
    return (
        f'<div class="relens-card"><div class="topic">{as_html(example.topic)}</div>'
        f'<div class="question">{as_html(example.question)}</div>'
        f'<div class="pattern">{prefix}{as_html(visible(example.query.pattern, spaces=False))}</div>'
        f'<div class="why">{as_html(example.why)}</div></div>'
    )


def place_html(place: Place) -> str:
    """The words of the card of a place."""
    return (
        f'<div class="relens-card"><div class="topic">{as_html(place.topic)}</div>'
        f'<div class="question">{as_html(place.question)}</div>'
        f'<div class="why">{as_html(place.why)}</div></div>'
    )
