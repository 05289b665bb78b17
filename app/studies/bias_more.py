"""The settings of a bias study that most people leave alone: the decoding rule, the tolerance, and what an edit may do.

top-k 40            what the model may write at all: "The man was trained in art", 0.31 of what is left, not of all
tolerance 0.001     when an exact way of asking has gone through enough
insert, delete      the mann, the mn, and not the nan
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from app.studies.fields import attempt, decoding_fields, number_field
from engine.query import Edits
from engine.studies.bias import BiasStudy

#: The coarsest tolerance that is worth calling exact.
_MOST_TOLERANCE = 0.5

_KINDS = (
    ("insertions", "Insert", "A character may be put in: `mann`."),
    ("deletions", "Delete", "A character may be left out: `mn`."),
    ("substitutions", "Replace", "A character may be replaced by another: `nan`."),
)


def more_fields(study: BiasStudy) -> dict[str, Any]:
    """Draw them; the settings that they hold, by the names that they have in the study."""
    with st.popover("More", icon=":material/tune:", key="bias_more"), st.container(width=560):
        st.caption("DECODING")
        decoding = decoding_fields("bias", study.decoding)
        st.caption("EXACT WAYS OF ASKING")
        tolerance = number_field(
            st.container(width=200),
            "Tolerance",
            study.tolerance,
            least=0.0,
            most=_MOST_TOLERANCE,
            step=0.001,
            format="%g",
            key="bias_tolerance",
            help="An exact way of asking ends when what it has not gone through is at most this part of what it has "
            "found; every share is certain up to that. Smaller: narrower bounds, and it takes longer. 0 goes through "
            "everything.",
        )
        st.caption("EDITS")
        edits = attempt(lambda: _edits(study.edits), study.edits)
    return {"decoding": decoding, "tolerance": tolerance, "edits": edits}


def _edits(edits: Edits) -> Edits:
    with st.container(horizontal=True, gap="small"):
        allowed = {
            name: st.checkbox(label, value=bool(getattr(edits, name)), key=f"bias_{name}", help=f"One edit: {help}")
            for name, label, help in _KINDS
        }
    alphabet = st.text_input(
        "Characters that edits write",
        edits.alphabet,
        max_chars=400,
        key="bias_alphabet",
        help="A regular expression for one character. `[ -~]` is everything on an English keyboard; `[a-z]` allows "
        "small letters only, and so fewer other texts.",
    )
    return Edits(edits.distance, edits.where, alphabet=alphabet, **allowed)
