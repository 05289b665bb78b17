"""Strings a few edits away, and strings left out: a popover of their own, whose label says when something is set."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.components.held import held_form
from app.form import EDITED_PARTS, MOST, Form, words_of
from engine.counted import counted

_UNTOUCHED = Form()

#: Regular expressions worth excluding, and what that leaves out.
_EXCLUDED = {r".*\d.*": "anything with a digit", ".*[^a-z ].*": "all but small letters and spaces"}


def edit_settings() -> Mapping[str, DeltaGenerator]:
    """Show the popover; returns the places under its fields, by the part of the query that an error is in."""
    with st.popover(
        popover_label(held_form()),
        icon=":material/edit_note:",
        key="edit_settings",
        help="Count strings with a few typing mistakes too, or leave strings out.",
    ):
        edits, exclusions = st.container(width=720).columns(2, gap="medium")
        with edits:
            under_alphabet = _edits()
        with exclusions:
            under_exclude = _exclusions()
    return {"alphabet": under_alphabet, "exclude": under_exclude}


def popover_label(form: Form) -> str:
    """The label, with a badge for what is set."""
    told = [counted(form.edits, "edit")] if form.edits else []
    words = len(words_of(form.exclude_words))
    exclusions = bool(form.exclude) + words + bool(form.stop_words)
    told += [counted(exclusions, "exclusion")] if exclusions else []
    badge = f" :blue-badge[{', '.join(told)}]" if told else ""
    return f"Edits and exclusions{badge}"


def _edits() -> DeltaGenerator:
    st.caption("EDITS")
    allowed = st.segmented_control(
        "Edits allowed",
        list(range(MOST["edits"] + 1)),
        default=_UNTOUCHED.edits,
        required=True,
        key="edits",
        bind="query-params",
        help="Also counts every string that is this many edits away: a character put in, left out, or replaced. Two "
        "make very many strings.",
    )
    st.caption("With one edit `The man` is also `The mann`, `Th man`, `The nan`, …")
    idle = not allowed
    st.segmented_control(
        "Where",
        list(EDITED_PARTS),
        default=_UNTOUCHED.edit_where,
        required=True,
        key="edit_where",
        bind="query-params",
        disabled=idle,
        help="**Both**: anywhere in the whole string, so many in all. **Prefix**: how a misspelled question changes "
        "the answer. **Pattern**: misspelled answers count too.",
    )
    with st.container(horizontal=True, gap="small"):
        for key, label, what in (
            ("insertions", "Insert", "a character may be put in: `mann`"),
            ("deletions", "Delete", "a character may be left out: `mn`"),
            ("substitutions", "Replace", "a character may be replaced by another: `nan`"),
        ):
            st.checkbox(label, value=True, key=key, bind="query-params", disabled=idle, help=f"One edit: {what}.")
    st.text_input(
        "Characters that edits write",
        value=_UNTOUCHED.edit_alphabet,
        key="edit_alphabet",
        bind="query-params",
        disabled=idle,
        help="A regular expression for one character. `[ -~]` is everything on an English keyboard; `[a-z]` allows "
        "small letters only and makes far fewer strings.",
    )
    return st.container(key="under_alphabet")


def _exclusions() -> DeltaGenerator:
    st.caption("EXCLUSIONS")
    st.text_input(
        "Leave out what matches",
        key="exclude",
        bind="query-params",
        placeholder=r"for example:  .*\d.*",
        help="A regular expression for strings of the pattern that do not count. It has to match the whole string of "
        "the pattern, its leading space too; `.*word.*` is any string with `word` in it.",
    )
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
    st.text_area(
        "Leave out these words",
        key="exclude_words",
        bind="query-params",
        height=72,
        placeholder="art, New York, …",
        help="Separated by commas or line breaks. A string of the pattern that is one of these words does not count, "
        "whether in capitals or with punctuation around it.",
    )
    st.checkbox(
        "Leave out function words",
        key="stop_words",
        bind="query-params",
        help="Words such as *the*, *of*, *and*, which fit nearly everywhere: without them, the word that carries the "
        "meaning has to be named.",
    )
    return under


def _exclude(expression: str) -> None:
    st.session_state["exclude"] = expression
