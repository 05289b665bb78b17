"""A field of the Workbench: declared with the query (`engine.query`), bound to the link's parameter of its name."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app.form import SETTINGS, Form
from app.setting_fields import setting_field

_UNTOUCHED = Form()


def query_field(name: str, **options: Any) -> None:
    """Draw the field of the form with this name. options: as for `setting_field`; `persist_state` and so on."""
    one = SETTINGS[name]
    first = getattr(_UNTOUCHED, name)
    if one.setting.choices:
        first = next(value for value, label in one.setting.choices.items() if label == first)
    setting_field(st, one, first if name != "exclude_words" else (), key=name, bind="query-params", **options)
