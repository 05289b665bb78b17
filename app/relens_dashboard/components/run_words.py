"""Fields for a run's name and note.

A field is written to the store only after somebody typed in it. Several people may look at the same run, so at every
other rerun the fields follow the store: writing each difference would undo a change of somebody else. The browser does
not change a field while somebody types in it.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from relens.errors import RelensError
from relens.runs.history import LONGEST_NAME, LONGEST_NOTE
from relens.runs.records import RunRecord
from relens_dashboard.messages import show_error
from relens_dashboard.runs.described import question
from relens_dashboard.services import Services


def run_words(services: Services, run: RunRecord) -> None:
    """The two fields, and the error of the last write."""
    name, note = f"name_{run.id}", f"note_{run.id}"
    _follow(name, run.name)
    _follow(note, run.note)
    left, right = st.columns([2, 3])
    with left:
        st.text_input(
            "Name",
            max_chars=LONGEST_NAME,
            key=name,
            placeholder=question(run, 60),
            help="The run's name in lists and comparisons. Without a name, its question is shown.",
            on_change=_write,
            args=(name, lambda text: services.store.rename(run.id, text)),
        )
    with right:
        st.text_area(
            "Note",
            max_chars=LONGEST_NOTE,
            key=note,
            height=68,
            placeholder="what it is for, what it showed",
            help="For you and others. The search of this page reads it, and an exported run contains it.",
            on_change=_write,
            args=(note, lambda text: services.store.annotate(run.id, text)),
        )
    for key in (name, note):
        if _refusal(key) in st.session_state:
            show_error(st.session_state[_refusal(key)])


def _follow(key: str, stored: str) -> None:
    """Show the stored text if it has changed since it was last shown; a refused text stays in the field."""
    if key not in st.session_state or st.session_state.get(_shown(key)) != stored:
        st.session_state[key] = stored
        st.session_state.pop(_refusal(key), None)
    st.session_state[_shown(key)] = stored


def _write(key: str, write: Callable[[str], None]) -> None:
    try:
        write(st.session_state[key] or "")
    except RelensError as error:
        st.session_state[_refusal(key)] = error.sentence
        return
    st.session_state.pop(_refusal(key), None)
    # The store may tidy the text; the field then shows the stored one, even if it is the same as before.
    st.session_state.pop(_shown(key), None)


def _shown(key: str) -> str:
    return f"{key}_shown"


def _refusal(key: str) -> str:
    return f"{key}_refused"
