"""Help at the boundary of prefix and pattern, which may forbid the tokenizer's own token."""

from __future__ import annotations

import dataclasses

import streamlit as st

from relens.runs.preview import Preview
from relens.runs.records import RunRecord
from relens_dashboard.components.fill import query_link
from relens_dashboard.form import Form, one_line
from relens_dashboard.text import as_markdown


def boundary_help(form: Form, preview: Preview, shown: RunRecord | None) -> None:
    """Show the advice on the boundary, with a link to the corrected query where there is one."""
    advice = preview.advice
    if advice is None:
        return
    st.caption(as_markdown(advice.sentence))
    if advice.pattern:
        corrected = dataclasses.replace(form, prefix=one_line(advice.prefix), pattern=one_line(advice.pattern))
        with st.container(key="move_space"):
            query_link(
                "Move the space to the pattern",
                corrected,
                shown.id if shown else None,
                sign="⇥",
                help="Moves the space from the end of the prefix to the start of the pattern. The strings stay the "
                "same, and the model can use the tokens of its training.",
            )
