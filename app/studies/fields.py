"""Fields that several studies have: numbers, and the decoding rule.

A study that is opened again may come from Python or the command line, where other limits hold than on a page: a time of
0.4 seconds, 50,000 matches. Streamlit refuses a first value outside a field's bounds, so bounds give way to it.
"""

from __future__ import annotations

from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.form import MOST
from engine.query import Decoding

_Number = TypeVar("_Number", int, float)


def number_field(
    place: DeltaGenerator,
    label: str,
    value: _Number | None,
    *,
    least: _Number,
    most: _Number,
    key: str,
    help: str,
    **more: Any,
) -> Any:
    """A field for a number; one whose first value is None may be empty. The bounds give way to the first value."""
    if value is not None:
        least, most = min(least, value), max(most, value)
    return place.number_input(label, min_value=least, max_value=most, value=value, key=key, help=help, **more)


def decoding_fields(kind: str, decoding: Decoding) -> Decoding:
    """Draw the three fields side by side; their keys begin with `kind`. Raises `QueryError` for what is no rule."""
    first, second, third = st.columns(3)
    top_k = number_field(
        first,
        "Top-k",
        decoding.top_k,
        least=1,
        most=MOST["top_k"],
        placeholder="off",
        key=f"{kind}_top_k",
        help="Only so many of the most likely next tokens count as something the model can write. Smaller: fewer "
        "strings, and quicker. Empty: all tokens count. The paper has 40.",
    )
    top_p = number_field(
        second,
        "Top-p",
        decoding.top_p,
        least=0.01,
        most=1.0,
        step=0.05,
        placeholder="off",
        key=f"{kind}_top_p",
        help="Only the fewest most likely tokens that reach this probability together. Empty: off.",
    )
    temperature = number_field(
        third,
        "Temperature",
        decoding.temperature,
        least=0.01,
        most=100.0,
        step=0.1,
        key=f"{kind}_temperature",
        help="Below 1 makes likely tokens likelier still, above 1 evens them out.",
    )
    return Decoding(top_k=top_k, top_p=top_p, temperature=temperature)
