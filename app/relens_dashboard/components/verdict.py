"""The verdict on the query in the fields: an error with its place, or the number of its strings."""

from __future__ import annotations

import re

import streamlit as st

from relens.errors import RegexError, RelensError
from relens.runs.preview import Preview
from relens_dashboard.answers import Answer
from relens_dashboard.form import Form
from relens_dashboard.live_preview import Drawn
from relens_dashboard.messages import show_error
from relens_dashboard.text import as_html, as_markdown, caret_excerpt, shortened, visible

_EXAMPLES_SHOWN = 3


def verdict(form: Form, answer: Answer[Drawn], problem: RelensError | None) -> None:
    """Show it; `problem` wins over `answer`."""
    if problem is not None:
        complaint(problem)
        return
    if not form.pattern:
        st.html('<div class="relens-verdict"><span class="label">Write a pattern, or open an example.</span></div>')
        return
    if answer.value is None:
        st.html(
            '<div class="relens-verdict" data-pending="1"><span class="label">Working out the automaton …</span></div>'
        )
        return
    st.html(verdict_html(answer.value.preview, form.prefix))
    for note in answer.value.preview.notes:
        st.caption(as_markdown(note))


def complaint(problem: RelensError) -> None:
    """An error, and its place in the expression."""
    show_error(problem)
    if isinstance(problem, RegexError) and problem.position is not None:
        st.code(caret_excerpt(problem.source, problem.position), language=None)


def verdict_html(preview: Preview, prefix: str) -> str:
    """The number of strings of the query, and a few of them, without a literal prefix; all text escaped."""
    noun = "string" if preview.strings == "1" else "strings"
    pieces = [f"<span><b>{as_html(preview.strings[:1].upper() + preview.strings[1:])} {noun}</b></span>"]
    given = literal(prefix) or ""
    if preview.examples:
        examples = " ".join(
            f"<code>{as_html(shortened(visible(example.removeprefix(given)), 60))}</code>"
            for example in preview.examples[:_EXAMPLES_SHOWN]
        )
        pieces.append(f'<span><span class="label">such as</span> {examples}</span>')
    return f'<div class="relens-verdict">{"".join(pieces)}</div>'


def literal(expression: str) -> str | None:
    """The one string of an expression without operators; None where there is an operator."""
    plain = re.sub(r"\\([^\w\s])", "", expression)
    if any(character in ".^$*+?{}[]()|\\" for character in plain):
        return None
    return re.sub(r"\\([^\w\s])", r"\1", expression)
