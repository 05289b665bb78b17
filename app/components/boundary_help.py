"""Help where prefix and pattern meet: the token that the tokenizer would use there may be forbidden."""

from __future__ import annotations

import dataclasses

import streamlit as st

from app.components.fill import query_link
from app.form import Form, one_line
from app.text import as_markdown
from engine.runs.preview import Preview
from engine.runs.records import RunRecord


def boundary_help(form: Form, preview: Preview, shown: RunRecord | None) -> None:
    """Say what is wrong with the boundary, and offer to put it right where that can be done."""
    advice = preview.advice
    if advice is None:
        return
    st.caption(as_markdown(advice.sentence))
    if advice.pattern:
        cured = dataclasses.replace(form, prefix=one_line(advice.prefix), pattern=one_line(advice.pattern))
        with st.container(key="move_space"):
            query_link(
                "Move the space to the pattern",
                cured,
                shown.id if shown else None,
                sign="⇥",
                help="Takes the space from the end of the prefix and puts it before the pattern. The strings stay the "
                "same; the model may then write them as it was trained to.",
            )
