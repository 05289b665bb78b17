"""What the Workbench's fields hold, also before they are drawn.

A widget's value is in the session's state once the widget was drawn. When a page is opened by a link, the first run of
its script has not come to that; then the link itself says what the widget will hold. So a label, or a field that is
disabled by another one further down, is right at once.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import streamlit as st

from app.form import Form


def held_form() -> Form:
    """The form as the fields hold it, or as the link fills them."""
    values: dict[str, Any] = {}
    for item in dataclasses.fields(Form):
        if item.name in st.session_state:
            values[item.name] = st.session_state[item.name]
        elif item.name in st.query_params:
            values[item.name] = from_link(st.query_params[item.name], item.default)
    return Form.from_values(values)


def from_link(text: str, default: Any) -> Any:
    """A parameter of the link as a value like `default`; None, which stands for the default, where it is none."""
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text.lower())
    if isinstance(default, int):
        return int(text) if text.isdecimal() else None
    return text if isinstance(default, str) else None
