"""Frozen dataclasses that survive a trip through JSON, and check what comes back.

    @dataclass(frozen=True)
    class Edit(Record):
        position: int
        text: str = ""

    Edit(3, "a").to_json()                 {"position": 3, "text": "a"}
    Edit.from_json({"position": 3})        Edit(position=3, text="")
    Edit.from_json({"position": "3"})      QueryError: Edit.position must be of type int, not str.

A query is a record, as are a study and its rows: they are stored, put in links, and sent to other processes. The
annotation of a field gives the type of its value; it is read once for each record type: rows come by the ten thousand.
"""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Literal, Self

from relens.errors import QueryError

#: Gives a value of JSON its type. Takes the value, and where it stands, for the sentence of a `QueryError`.
_Reader = Callable[[Any, str], Any]


class Record:
    """JSON for frozen dataclasses: `to_json` gives plain dictionaries, `from_json` checks what it reads.

    A record with a `kind` has it in its JSON, to identify it among several.
    """

    kind: ClassVar[str] = ""

    def to_json(self) -> dict[str, Any]:
        """The record as dictionaries, lists, strings and numbers."""
        values = {
            item.name: plain(getattr(self, item.name))
            for item in dataclasses.fields(self)  # type: ignore[arg-type]
        }
        return {"kind": self.kind, **values} if self.kind else values

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The record back from `to_json`; fields that are missing take their defaults.

        Raises `QueryError` for a field that is unknown or of the wrong type.
        """
        if not isinstance(data, Mapping):
            raise QueryError(f"{cls.__name__} is described by a JSON object, not by {type(data).__name__}.")
        if cls.kind:
            data = {name: value for name, value in data.items() if name != "kind"}
        if unknown := sorted(data.keys() - _readers(cls).keys()):  # type: ignore[arg-type]
            raise QueryError(f"{cls.__name__} has no field called {unknown[0]!r}.")
        return cls._read(data)

    @classmethod
    def _read(cls, data: Mapping[str, Any]) -> Self:
        """The record with those of its fields that are in `data`."""
        readers = _readers(cls)  # type: ignore[arg-type]
        values = {name: read(data[name], where) for name, (read, where) in readers.items() if name in data}
        if missing := [name for name in _required(cls) if name not in values]:  # type: ignore[arg-type]
            raise QueryError(f"{cls.__name__} lacks {', '.join(missing)}.")
        return cls(**values)


def plain(value: Any) -> Any:
    """The value as JSON has it: a record as an object, a tuple as a list, a choice as its value."""
    if isinstance(value, Record):
        return value.to_json()
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value


@cache
def _readers(record: type[Record]) -> dict[str, tuple[_Reader, str]]:
    """For each field of the record, in order: what reads it, and its name in sentences."""
    hints = typing.get_type_hints(record)
    return {
        item.name: (_reader(hints[item.name]), f"{record.__name__}.{item.name}")
        for item in dataclasses.fields(record)  # type: ignore[arg-type]
    }


@cache
def _required(record: type[Record]) -> tuple[str, ...]:
    """The fields that have no default."""
    return tuple(
        item.name
        for item in dataclasses.fields(record)  # type: ignore[arg-type]
        if item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
    )


@cache
def _reader(hint: Any) -> _Reader:
    """What reads a value of this type; only the shapes that the records here use."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _union_reader(arguments)
    if origin is Literal:
        return _choice_reader(arguments)
    if origin is tuple:
        return _tuple_reader(arguments)
    if origin is dict:
        return _object_reader(_reader(arguments[1]))
    if hint is Any:
        return lambda value, where: value
    if hint is float:
        return _read_float
    if isinstance(hint, type) and issubclass(hint, Record):
        return lambda value, where: hint.from_json(value)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _enum_reader(hint)
    return _type_reader(hint)


def _read_float(value: Any, where: str) -> float:
    if type(value) is float:
        return value
    if type(value) is int:
        return float(value)
    raise _wrong_type(float, value, where)


def _type_reader(hint: Any) -> _Reader:
    def read(value: Any, where: str) -> Any:
        if type(value) is hint:
            return value
        raise _wrong_type(hint, value, where)

    return read


def _wrong_type(hint: Any, value: Any, where: str) -> QueryError:
    return QueryError(f"{where} must be of type {getattr(hint, '__name__', hint)}, not {type(value).__name__}.")


def _choice_reader(choices: tuple[Any, ...]) -> _Reader:
    def read(value: Any, where: str) -> Any:
        if value not in choices:
            raise QueryError(f"{where} must be one of {', '.join(map(repr, choices))}, not {value!r}.")
        return value

    return read


def _enum_reader(hint: type[enum.Enum]) -> _Reader:
    def read(value: Any, where: str) -> enum.Enum:
        try:
            return hint(value)
        except ValueError:
            names = ", ".join(repr(member.value) for member in hint)
            raise QueryError(f"{where} must be one of {names}, not {value!r}.") from None

    return read


def _tuple_reader(arguments: tuple[Any, ...]) -> _Reader:
    """Of `tuple[int, ...]`, any number of items; of `tuple[int, str]`, one of each."""
    any_number = arguments[-1] is Ellipsis
    readers = [_reader(argument) for argument in arguments if argument is not Ellipsis]

    def read(value: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)):
            raise QueryError(f"{where} must be a list, not {type(value).__name__}.")
        if any_number:
            (item_reader,) = readers
            return tuple([item_reader(item, where) for item in value])
        if len(value) != len(readers):
            raise QueryError(f"{where} must be a list of {len(readers)}, not of {len(value)}.")
        return tuple(item_reader(item, where) for item_reader, item in zip(readers, value, strict=True))

    return read


def _object_reader(value_reader: _Reader) -> _Reader:
    def read(value: Any, where: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise QueryError(f"{where} must be a JSON object, not {type(value).__name__}.")
        return {str(name): value_reader(item, f"{where}[{name!r}]") for name, item in value.items()}

    return read


def _union_reader(arguments: tuple[Any, ...]) -> _Reader:
    """None, or one of several: which, the value's kind says."""
    inner = [argument for argument in arguments if argument is not types.NoneType]
    may_be_none = len(inner) < len(arguments)
    readers = [_reader(argument) for argument in inner]

    def read(value: Any, where: str) -> Any:
        if value is None and may_be_none:
            return None
        if len(readers) == 1:
            return readers[0](value, where)
        return _of_kind(inner, value, where).from_json(value)

    return read


def _of_kind(records: Sequence[type[Record]], value: Any, where: str) -> type[Record]:
    """Which of several records `value` describes, by its kind; without one, the first."""
    if not isinstance(value, Mapping):
        raise QueryError(f"{where} must be a JSON object, not {type(value).__name__}.")
    kind = value.get("kind", records[0].kind)
    for record in records:
        if record.kind == kind:
            return record
    raise QueryError(f"{where} is one of {', '.join(repr(record.kind) for record in records)}, not {kind!r}.")
