"""The values of the Workbench's fields, also before they are drawn.

A widget's value is in the session's state once the widget is drawn. During the first run of a page opened by a link it
is not there yet, so it is read from the link. So labels, and fields disabled by another field further down, are right
at once.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import streamlit as st

from relens_dashboard.form import Form


def held_form() -> Form:
    """The form of the fields' values, or of the link's."""
    values: dict[str, Any] = {}
    for item in dataclasses.fields(Form):
        if item.name in st.session_state:
            values[item.name] = st.session_state[item.name]
        elif item.name in st.query_params:
            values[item.name] = from_link(st.query_params[item.name], item.default)
    return Form.from_values(values)


def from_link(text: str, default: Any) -> Any:
    """A parameter of the link as a value of `default`'s type; None, for the default, where it is not one."""
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text.lower())
    if isinstance(default, int):
        return int(text) if text.isdecimal() else None
    return text if isinstance(default, str) else None
