"""The glossary: all terms by field, searchable, each with an anchor of its own."""

from __future__ import annotations

import streamlit as st

from relens_dashboard.glossary import FIELDS, GLOSSARY, Term, anchor, search
from relens_dashboard.text import as_html, as_markdown

SEARCH = "glossary_search"


def glossary_page() -> None:
    """Heading, search, and its terms."""
    st.html(
        '<h1 class="relens-title study">Glossary</h1>'
        '<p class="relens-lead small">The terms of these pages in plain sentences, each with an example.</p>'
    )
    with st.container():
        st.fragment(_terms, key="glossary_terms")()


def _terms() -> None:
    words = st.text_input(
        "Search",
        key=SEARCH,
        bind="query-params",
        live="250ms",
        max_chars=100,
        placeholder="for example:  encoding",
        help="Shows the terms that have all these words in their name, meaning or example.",
    )
    terms = search(words) if words else list(GLOSSARY.values())
    if not terms:
        st.caption(as_markdown(f"No term here has “{words}” in it. Try fewer words."))
        return
    for field in FIELDS:
        here = [entry for entry in terms if entry.field == field]
        if here:
            st.html(f"<h2>{as_html(field)}</h2><dl class='relens-glossary'>{''.join(map(_entry, here))}</dl>")


def _entry(entry: Term) -> str:
    return (
        f'<div><dt id="{as_html(anchor(entry.word))}">{as_html(entry.word)}</dt>'
        f"<dd>{as_html(entry.meaning)}<small>{as_html(entry.example)}</small></dd></div>"
    )
