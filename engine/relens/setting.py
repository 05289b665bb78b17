"""A setting is declared once, at its field: its name for people, its meaning, and the values it may have.

    @dataclass(frozen=True)
    class Sampling(Record):
        count: Annotated[int, Setting("Draws", "How often the model writes.", least=1, ceiling=100_000)] = 1000

From this line come the check of a value with its sentence (`check_settings`), the widget on a page with label, help and
bounds (`relens_dashboard.setting_fields`), the help of the command line (`described`), the ceiling on a server
(`ceilings_of`), and the values that a test expects to be refused (`wrong_values`):

    Sampling(count=0)      QueryError: “Draws” must be at least 1, not 0.

A bound holds for every item of a list; None, where the type allows it, means what `empty` says and has no bounds.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import textwrap
import types
import typing
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from relens.errors import QueryError


@dataclass(frozen=True)
class Setting:
    """The declaration of a setting besides its type and its default.

    label: a few words. help: sentences in Markdown. least, most: inclusive bounds; above, below: exclusive bounds.
    ceiling: the most on a shared server; Python and the command line have no ceiling. empty: the meaning of None.
    fewest, most_items: items of a list; fewest=1 of a text: it must not be empty. blanks: whether the blanks of an item
    count. distinct: no item twice. choices: the possible values in order, each with its name for people. step: of a
    widget's buttons. example: shown in an empty field. is_regex: whether the text is a regular expression.
    """

    label: str
    help: str = ""
    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    ceiling: float | None = None
    empty: str = ""
    fewest: int = 0
    most_items: int | None = None
    blanks: bool = False
    distinct: bool = False
    choices: Mapping[Any, str] = field(default_factory=dict)
    step: float | None = None
    example: str = ""
    is_regex: bool = False

    @property
    def range(self) -> str:
        """The bounds in words, "" without any: "between 1 and 256", "above 0", "at least 0 and below 1"."""
        if self.least is not None and self.most is not None:
            return f"between {_number(self.least)} and {_number(self.most)}"
        bounds = (("at least", self.least), ("above", self.above), ("at most", self.most), ("below", self.below))
        return " and ".join(f"{words} {_number(bound)}" for words, bound in bounds if bound is not None)

    def allows(self, number: float) -> bool:
        """Whether a number is finite and within the bounds."""
        return (
            math.isfinite(number)
            and (self.least is None or number >= self.least)
            and (self.above is None or number > self.above)
            and (self.most is None or number <= self.most)
            and (self.below is None or number < self.below)
        )


@dataclass(frozen=True)
class Declared:
    """A setting with its field. type: of the value, or of one item where it is a list, without None."""

    name: str
    setting: Setting
    type: Any
    is_list: bool
    is_optional: bool
    default: Any

    @property
    def is_number(self) -> bool:
        """Whether values, or items, are numbers."""
        return self.type in (int, float)

    def check(self, value: Any) -> None:
        """Raise `QueryError` for a value without meaning."""
        setting = self.setting
        if value is None:
            if not self.is_optional:
                raise QueryError(f"“{setting.label}” must not be empty.")
            return
        if self.is_list:
            self._check_list(value)
        elif setting.fewest and isinstance(value, str) and not value:
            raise QueryError(f"“{setting.label}” must not be empty.")
        for item in value if self.is_list else (value,):
            self._check_one(item)

    def _check_list(self, items: tuple[Any, ...]) -> None:
        setting = self.setting
        if len(items) < setting.fewest:
            raise QueryError(f"“{setting.label}” must have at least {setting.fewest}, not {len(items)}.")
        if setting.most_items is not None and len(items) > setting.most_items:
            raise QueryError(f"“{setting.label}” must have at most {setting.most_items:,}, not {len(items):,}.")
        if setting.distinct and len(set(items)) < len(items):
            counts = Counter(items)
            twice = next(item for item in items if counts[item] > 1)
            raise QueryError(f"In “{setting.label}”, {_shown(setting.choices.get(twice, twice))} is there twice.")

    def _check_one(self, value: Any) -> None:
        setting = self.setting
        if self.is_list and not setting.blanks and isinstance(value, str) and not value.strip():
            raise QueryError(f"In “{setting.label}”, an item is empty.")
        if setting.choices and value not in setting.choices:
            names = ", ".join(repr(_plain(choice)) for choice in setting.choices)
            raise QueryError(f"“{setting.label}” must be one of {names}, not {_shown(_plain(value))}.")
        if self.is_number and not setting.allows(value):
            raise QueryError(f"“{setting.label}” must be {setting.range or 'a number'}, not {_shown(value)}.")

    def wrong_values(self) -> Iterator[Any]:
        """Values that `check` refuses, one for each rule."""
        setting = self.setting
        numbers: list[Any] = []
        if self.is_number:
            numbers += [bound - 1 for bound in (setting.least,) if bound is not None]
            numbers += [bound + 1 for bound in (setting.most,) if bound is not None]
            numbers += [bound for bound in (setting.above, setting.below) if bound is not None]
            numbers += [math.nan, math.inf] if self.type is float else []
        items = [*numbers, *(["no such choice"] if setting.choices else [])]
        yield from [(item,) for item in items] if self.is_list else items
        if setting.fewest:
            yield () if self.is_list else ""
        if self.is_list and self.type is str and not setting.blanks:
            yield (*self.default, " ")
        if setting.most_items is not None:
            yield ("x",) * (setting.most_items + 1)
        if self.is_list and setting.distinct and self.default:
            yield (*self.default, self.default[0])


#: The settings of each dataclass, looked up once: a search makes thousands of records.
_SETTINGS: dict[type, tuple[Declared, ...]] = {}


def settings_of(record: type) -> tuple[Declared, ...]:
    """The settings that a dataclass declares, in the order of its fields."""
    if record not in _SETTINGS:
        _SETTINGS[record] = tuple(_settings(record))
    return _SETTINGS[record]


def _settings(record: Any) -> Iterator[Declared]:
    hints = typing.get_type_hints(record, include_extras=True)
    for item in dataclasses.fields(record):
        for setting in getattr(hints[item.name], "__metadata__", ()):
            if isinstance(setting, Setting):
                one, is_list, is_optional = _parts(hints[item.name])
                if not setting.choices and (choices := _choices(one)):
                    setting = dataclasses.replace(setting, choices=choices)
                yield Declared(item.name, setting, one, is_list, is_optional, _default(item))


def declared(record: Any, name: str) -> Declared:
    """One setting of a dataclass, by the name of its field."""
    return next(each for each in settings_of(record) if each.name == name)


def check_settings(record: Any) -> None:
    """Raise `QueryError` for the first setting of a record whose value has no meaning."""
    for each in settings_of(type(record)):
        each.check(getattr(record, each.name))


def ceilings_of(record: Any) -> dict[str, float]:
    """The ceilings on a server by the name of the setting; settings without one are left out."""
    return {each.name: each.setting.ceiling for each in settings_of(record) if each.setting.ceiling is not None}


def described(record: Any, width: int = 100) -> Iterator[str]:
    """The settings of a record as lines for a terminal: name, meaning, values, and as default the record's value.

    Settings of inner records are indented.
    """
    declared_here = {each.name: each for each in settings_of(type(record))}
    for item in dataclasses.fields(record):
        value = getattr(record, item.name)
        if item.name in declared_here:
            yield from _entry(declared_here[item.name], value, width)
        elif dataclasses.is_dataclass(value) and settings_of(type(value)):
            yield f"  {item.name}, a JSON object of:"
            yield from (f"  {line}" for line in described(value, width - 2))
        else:
            yield f"  {item.name}"


def plain_help(setting: Setting) -> str:
    """The help of a setting without Markdown, for a terminal."""
    return setting.help.replace("*", "").replace("`", "")


def _entry(one: Declared, default: Any, width: int) -> Iterator[str]:
    yield f"  {one.name}: {one.setting.label} ({_values(one)}; default {_default_text(one, default)})"
    yield from textwrap.wrap(plain_help(one.setting), width, initial_indent=" " * 6, subsequent_indent=" " * 6)


def _values(one: Declared) -> str:
    """Possible values: "a list of numbers, each at least 1", "'all' or 'canonical'", "a number above 0, or null"."""
    if one.setting.choices:
        are_records = any(dataclasses.is_dataclass(choice) for choice in one.setting.choices)
        values = [repr(_plain(choice)) for choice in one.setting.choices if choice is not None]
        what = "JSON objects" if are_records else " or ".join(values)
        what = f"a list of {what}" if one.is_list else what
    else:
        noun = {int: "whole number", float: "number", bool: "true or false", str: "text"}.get(one.type, "object")
        if one.is_list:
            what = f"a list of {noun}s" + (f", each {one.setting.range}" if one.setting.range else "")
        else:
            what = noun if one.type in (bool, str) else f"{noun} {one.setting.range}".strip()
    return f"{what}, or null: {one.setting.empty or 'none'}" if one.is_optional else what


def _default_text(one: Declared, value: Any) -> str:
    if one.setting.choices:
        values = value if one.is_list else (value,)
        text = ", ".join(
            str(_plain(item) if isinstance(_plain(item), str) else one.setting.choices[item]) for item in values
        )
    else:
        text = json.dumps(_plain(value), ensure_ascii=False, default=dataclasses.asdict)
    return textwrap.shorten(text, 60, placeholder=" …")


def _parts(hint: Any) -> tuple[Any, bool, bool]:
    """(type of the value or of one item, whether it is a list, whether it may be None) of a field's type."""
    if typing.get_origin(hint) is typing.Annotated:
        hint = typing.get_args(hint)[0]
    is_optional = False
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        inner = [argument for argument in typing.get_args(hint) if argument is not type(None)]
        is_optional = len(inner) < len(typing.get_args(hint))
        hint = inner[0]
    is_list = typing.get_origin(hint) is tuple
    return (typing.get_args(hint)[0] if is_list else hint), is_list, is_optional


def _choices(hint: Any) -> dict[Any, str]:
    """The values of a `Literal` or an enumeration, named by themselves."""
    if typing.get_origin(hint) is Literal:
        return {value: str(value).capitalize() for value in typing.get_args(hint)}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {member: str(member.value).capitalize() for member in hint}
    return {}


def _default(item: dataclasses.Field[Any]) -> Any:
    return item.default_factory() if item.default_factory is not dataclasses.MISSING else item.default


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, enum.Enum) else value


def _number(bound: float) -> str:
    return f"{bound:,}" if isinstance(bound, int) else f"{bound:g}"


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
