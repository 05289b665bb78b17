"""The gallery as cards that open the Workbench with the query filled in."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from app import links
from app.components.fill import query_link
from app.form import DEFAULT_MODEL, Form
from app.gallery import Example
from app.text import as_html, visible


def gallery_cards(examples: tuple[Example, ...], workbench: StreamlitPage) -> None:
    """Show a card for each example."""
    grid = st.grid(3, min_column_width=300, gap="small", border=True)
    for example in examples:
        with grid.cell():
            st.html(card_html(example))
            _open(example, workbench, f"Open: {example.title}")


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
