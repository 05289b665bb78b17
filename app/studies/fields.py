"""Fields that several studies have: numbers, and the decoding rule; and how fields complain.

    Text        You utter fo            None of the words stands in the text.
    Top-k       12                      still drawn, and so still 12

A field that is not drawn forgets what somebody has put into it. So a wrong setting must not keep the fields behind it
from being drawn: complaints are noted, and the first is raised when all fields are there (`all_fields`).

A study that is opened again may come from Python or the command line, where other limits hold than on a page: a time of
0.4 seconds, 50,000 matches. Streamlit refuses a first value outside a field's bounds, so bounds give way to it. (Any
other value outside them it replaces by the first one, whatever a browser sends, so nobody gets around them.)
"""

from __future__ import annotations

from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.setting_fields import attempt
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
    """Draw the three fields side by side; their keys begin with `kind`.

    Raises `QueryError` for what is no rule (see `attempt`).
    """
    first, second, third = st.columns(3)
    top_k = number_field(
        first,
        "Top-k",
        decoding.top_k,
        least=1,
        most=1_000_000,
        placeholder="off",
        key=f"{kind}_top_k",
        help="Only so many of the most likely next tokens count as something the model can write. Smaller: fewer "
        "strings, and quicker. Empty: all tokens count. The paper has 40 where it looks for memorized and for "
        "toxic text, and none where it looks for bias.",
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
    return attempt(lambda: Decoding(top_k=top_k, top_p=top_p, temperature=temperature), decoding)
