"""The fields of a decoding rule, the same for every study that has one: top-k, top-p, temperature."""

from __future__ import annotations

import streamlit as st

from app.form import MOST
from engine.query import Decoding


def decoding_fields(kind: str, decoding: Decoding) -> Decoding:
    """Draw the three fields side by side; their keys begin with `kind`. Raises `QueryError` for what is no rule."""
    first, second, third = st.columns(3)
    top_k = first.number_input(
        "Top-k",
        min_value=1,
        max_value=MOST["top_k"],
        value=decoding.top_k,
        placeholder="off",
        key=f"{kind}_top_k",
        help="Only so many of the most likely next tokens count as something the model can write. Smaller: fewer "
        "strings, and quicker. Empty: all tokens count. The paper has 40.",
    )
    top_p = second.number_input(
        "Top-p",
        min_value=0.01,
        max_value=1.0,
        value=decoding.top_p,
        step=0.05,
        placeholder="off",
        key=f"{kind}_top_p",
        help="Only the fewest most likely tokens that reach this probability together. Empty: off.",
    )
    temperature = third.number_input(
        "Temperature",
        min_value=0.01,
        max_value=100.0,
        value=decoding.temperature,
        step=0.1,
        key=f"{kind}_temperature",
        help="Below 1 makes likely tokens likelier still, above 1 evens them out.",
    )
    return Decoding(top_k=top_k, top_p=top_p, temperature=temperature)
