"""Settings of edits and exclusions: a popover with a badge in its label when something is set."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from relens.counted import counted
from relens_dashboard.components.held import held_form
from relens_dashboard.components.query_form import query_field
from relens_dashboard.form import Form, words_of

#: Examples of expressions to exclude, each with its meaning.
_EXCLUDED = {r".*\d.*": "anything with a digit", ".*[^a-z ].*": "all but small letters and spaces"}


def edit_settings() -> Mapping[str, DeltaGenerator]:
    """Show the popover; returns the places under its fields, by the part of the query, for errors in it."""
    with st.popover(
        popover_label(held_form()),
        icon=":material/edit_note:",
        key="edit_settings",
        help="Include strings with a few typing mistakes, or leave strings out.",
    ):
        edits, exclusions = st.container(width=720).columns(2, gap="medium")
        with edits:
            under_alphabet = _edits()
        with exclusions:
            under_exclude = _exclusions()
    return {"alphabet": under_alphabet, "exclude": under_exclude}


def popover_label(form: Form) -> str:
    """The label, with a badge for the settings in use."""
    counts = [counted(form.edits, "edit")] if form.edits else []
    words = len(words_of(form.exclude_words))
    exclusions = bool(form.exclude) + words + bool(form.stop_words)
    counts += [counted(exclusions, "exclusion")] if exclusions else []
    badge = f" :blue-badge[{', '.join(counts)}]" if counts else ""
    return f"Edits and exclusions{badge}"


def _edits() -> DeltaGenerator:
    st.caption("EDITS")
    query_field("edits", widget="segmented_control")
    st.caption("With one edit `The man` is also `The mann`, `Th man`, `The nan`, …")
    idle = not held_form().edits
    query_field("edit_where", disabled=idle)
    with st.container(horizontal=True, gap="small"):
        for kind in ("insertions", "deletions", "substitutions"):
            query_field(kind, widget="checkbox", disabled=idle)
    query_field("edit_alphabet", disabled=idle)
    return st.container(key="under_alphabet")


def _exclusions() -> DeltaGenerator:
    st.caption("EXCLUSIONS")
    query_field("exclude")
    under = st.container(key="under_exclude")
    with st.container(gap=None):
        for expression, what in _EXCLUDED.items():
            st.button(
                f"`{expression}` {what}",
                type="tertiary",
                key=f"exclude_{what.split()[0]}",
                on_click=_exclude,
                args=(expression,),
                help="Put this into the field.",
            )
    query_field("exclude_words", height=72)
    query_field("stop_words", widget="checkbox")
    return under


def _exclude(expression: str) -> None:
    st.session_state["exclude"] = expression
