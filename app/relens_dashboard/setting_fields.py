"""The widgets of a record's settings, with the label, help, bounds and choices that the setting declares.

    fields = SettingFields(study, "memorization")
    fields.draw("prefix")
    fields.row("seconds", "matches", "seed")
    fields.inner("decoding")
    study = fields.record()

A page only gives the place of a setting; the rest is declared (`relens.setting`). Keys of widgets are
"memorization_prefix" and so on. A value from a widget of the page's own, such as an upload, goes in at the end:
`fields.record(words=words)`.

A field that is not drawn forgets its value. So an error in one setting must not prevent the fields after it: errors are
noted, and the first is raised when all fields are drawn (`all_fields`).

A record that is opened again may come from Python or the command line, where a page's ceilings do not hold: 50,000
matches. Streamlit refuses a first value outside a field's bounds, so bounds are widened to it. (Streamlit replaces any
other value outside the bounds by the first one, whatever a browser sends, so nobody gets around them.)
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

import streamlit as st

from relens.errors import LimitError, QueryError, RelensError
from relens.record import Record
from relens.setting import Declared, declared, settings_of
from relens_dashboard.form import one_line

_Record = TypeVar("_Record", bound=Record)
_Made = TypeVar("_Made")

#: The largest whole number that a browser keeps as it is.
LARGEST = 2**53 - 1
#: How far inside an open bound a field ends.
_INSIDE = 0.0001
#: More choices than this stand in a list that opens.
_MOST_PILLS = 8

_noted: ContextVar[list[RelensError] | None] = ContextVar("noted", default=None)


@contextmanager
def all_fields() -> Iterator[None]:
    """Note the errors of the fields drawn inside, and raise the first at the end; a `LimitError` as a `QueryError`."""
    noted: list[RelensError] = []
    outer = _noted.set(noted)
    try:
        yield
    except RelensError as error:
        noted.append(error)
    finally:
        _noted.reset(outer)
    for error in noted:
        raise QueryError(error.sentence) if isinstance(error, LimitError) else error


def attempt(make: Callable[[], _Made], instead: _Made) -> _Made:
    """The result of `make`. Inside `all_fields`, an error of it is noted, and the result is `instead`."""
    noted = _noted.get()
    if noted is None:
        return make()
    try:
        return make()
    except RelensError as error:
        noted.append(error)
        return instead


class SettingFields(Generic[_Record]):
    """The fields of one record on one page. record: their first values; kind: the beginning of their keys."""

    def __init__(self, record: _Record, kind: str) -> None:
        self._first = record
        self._kind = kind
        self._values: dict[str, Any] = {}

    def draw(self, name: str, place: Any = None, **options: Any) -> Any:
        """Draw one field in a place of the page; returns its value. options: of Streamlit's widget, for its look."""
        first = getattr(self._first, name)
        one = declared(type(self._first), name)
        options = {"key": f"{self._kind}_{name}", **options}
        value = setting_field(st if place is None else place, one, first, **options)
        self._values[name] = value
        return value

    def row(self, *names: str, widths: Sequence[float] | None = None, **options: Any) -> None:
        """Fields side by side, with columns of these widths."""
        for name, place in zip(names, st.columns(widths or len(names)), strict=False):
            self.draw(name, place, **options)

    def inner(self, name: str, *rows: Sequence[str]) -> Any:
        """The fields of a record that is a setting of this one: all of them side by side, or these, row by row."""
        first = getattr(self._first, name)
        fields = SettingFields(first, self._kind)
        for row in rows or ([each.name for each in settings_of(type(first))],):
            fields.row(*row)
        self._values[name] = attempt(fields.record, first)
        return self._values[name]

    def record(self, **others: Any) -> _Record:
        """The record of the fields' values and `others`. Raises `QueryError` for a value without meaning."""
        return dataclasses.replace(self._first, **self._values | others)  # type: ignore[type-var]


def setting_field(place: Any, one: Declared, first: Any, **options: Any) -> Any:
    """Draw the widget of one setting, with `first` as its first value, and return its value.

    options: those of Streamlit's widget; `widget` among them names another widget than the type's usual one.
    """
    setting = one.setting
    options = {"help": setting.help or None, **options}
    widget = options.pop("widget", "")
    if setting.choices:
        return _choice(place, one, first, widget, options)
    if one.type is bool:
        return getattr(place, widget or "toggle")(setting.label, value=first, **options)
    if one.is_number and one.is_list:  # options: the numbers that are offered
        chosen = place.pills(setting.label, selection_mode="multi", default=list(first), **options)
        return tuple(sorted(chosen))
    if one.is_number:
        return _number(place, one, first, widget, options)
    options = {"placeholder": setting.example or None, **options}
    if one.is_list:
        typed = place.text_area(setting.label, "\n".join(first), **options)
        lines = [line for line in (typed or "").splitlines() if line.strip()]
        return tuple(lines if setting.blanks else [line.strip() for line in lines])
    # A field of one line has no place for the line breaks that a regular expression may be written with.
    return getattr(place, widget or "text_input")(
        setting.label, one_line(first) if setting.is_regex else first, **options
    )


def _number(place: Any, one: Declared, first: Any, widget: str, options: dict[str, Any]) -> Any:
    least, most = bounds(one)
    kind = one.type if first is None else type(first)
    if first is not None:
        first = max(-LARGEST, min(first, LARGEST)) if kind is int else first
        least, most = min(least, first), max(most, first)
    if widget:  # it shows all numbers of a small range
        numbers = list(range(int(least), int(most) + 1))
        return getattr(place, widget)(one.setting.label, numbers, default=first, required=True, **options)
    if one.is_optional and first is not None and "bind" not in options:  # the link fills a bound field
        first = _emptied(first, options["key"])
    step = one.setting.step
    if step is not None and kind is float and step < 0.01:
        options = {"format": "%g", **options}
    return place.number_input(
        one.setting.label,
        **{
            "min_value": math.ceil(least) if kind is int else float(least),
            "max_value": kind(most),
            "value": first,
            "step": None if step is None else kind(step),
            "placeholder": one.setting.empty or None,
            **options,
        },
    )


def _emptied(first: Any, key: str) -> None:
    """None as first value of a field that holds `first`: only fields that begin empty can be emptied in Streamlit."""
    begun = f"{key}_at_first"
    if key not in st.session_state or st.session_state.get(begun) != first:
        st.session_state[begun] = st.session_state[key] = first


def bounds(one: Declared) -> tuple[float, float]:
    """The least and the largest value that the field of a number takes."""
    setting = one.setting
    lower = (setting.least, None if setting.above is None else setting.above + _INSIDE, -LARGEST)
    upper = (setting.most, setting.ceiling, None if setting.below is None else setting.below - _INSIDE, LARGEST)
    return max(bound for bound in lower if bound is not None), min(bound for bound in upper if bound is not None)


def _choice(place: Any, one: Declared, first: Any, widget: str, options: dict[str, Any]) -> Any:
    choices = one.setting.choices
    if one.is_list:
        options = {"default": list(first), "format_func": choices.__getitem__, **options}
        if len(choices) > _MOST_PILLS:
            chosen = place.multiselect(one.setting.label, list(choices), **options)
        else:
            chosen = place.pills(one.setting.label, list(choices), selection_mode="multi", **options)
        return tuple(value for value in choices if value in chosen)
    if widget == "selectbox":
        values = list(choices)
        return place.selectbox(
            one.setting.label, values, index=values.index(first), format_func=choices.__getitem__, **options
        )
    # The widget holds the name of a choice, so that a link reads like the page.
    names = {label: value for value, label in choices.items()}
    label = getattr(place, widget or "segmented_control")(
        one.setting.label, list(names), default=choices[first], required=True, **options
    )
    return names[label]
