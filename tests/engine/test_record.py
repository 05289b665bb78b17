"""Records survive JSON, and a value of another type is refused with its place."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.errors import QueryError
from relens.record import Record


class Way(enum.StrEnum):
    """A choice."""

    UP = "up"
    DOWN = "down"


@dataclass(frozen=True)
class Circle(Record):
    """One of two kinds."""

    kind: ClassVar[str] = "circle"
    radius: float = 1.0


@dataclass(frozen=True)
class Square(Record):
    """The other one."""

    kind: ClassVar[str] = "square"
    side: float = 1.0


@dataclass(frozen=True)
class Example(Record):
    """A field of each shape."""

    whole: int
    number: float = 0.0
    way: Way = Way.UP
    size: Literal["small", "large"] = "small"
    words: tuple[str, ...] = ()
    pair: tuple[int, str] = (0, "")
    counts: dict[str, int] = field(default_factory=dict)
    shape: Circle | Square | None = None
    anything: Any = None


EXAMPLES = st.builds(
    Example,
    whole=st.integers(),
    number=st.floats(allow_nan=False),
    way=st.sampled_from(Way),
    size=st.sampled_from(["small", "large"]),
    words=st.lists(st.text()).map(tuple),
    pair=st.tuples(st.integers(), st.text()),
    counts=st.dictionaries(st.text(), st.integers()),
    shape=st.none() | st.builds(Circle, st.floats(0, 9)) | st.builds(Square, st.floats(0, 9)),
    anything=st.none() | st.booleans() | st.lists(st.integers()),
)


@given(EXAMPLES)
def test_a_record_comes_back_from_json(record):
    assert Example.from_json(json.loads(json.dumps(record.to_json()))) == record


def test_whole_numbers_are_floats_where_a_float_is_due():
    read = Example.from_json({"whole": 1, "number": 2})
    assert type(read.number) is float


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({}, "Example lacks whole."),
        ({"whole": "1"}, "Example.whole must be of type int, not str."),
        ({"whole": True}, "Example.whole must be of type int, not bool."),
        ({"whole": 1, "number": None}, "Example.number must be of type float, not NoneType."),
        ({"whole": 1, "way": "left"}, "Example.way must be one of 'up', 'down', not 'left'."),
        ({"whole": 1, "size": 3}, "Example.size must be one of 'small', 'large', not 3."),
        ({"whole": 1, "words": "ab"}, "Example.words must be a list, not str."),
        ({"whole": 1, "words": ["a", 2]}, "Example.words must be of type str, not int."),
        ({"whole": 1, "pair": [1]}, "Example.pair must be a list of 2, not of 1."),
        ({"whole": 1, "counts": [1]}, "Example.counts must be a JSON object, not list."),
        ({"whole": 1, "counts": {"a": "b"}}, "Example.counts['a'] must be of type int, not str."),
        ({"whole": 1, "shape": {"kind": "line"}}, "Example.shape is one of 'circle', 'square', not 'line'."),
        ({"whole": 1, "shape": 3}, "Example.shape must be a JSON object, not int."),
        ({"whole": 1, "weight": 2}, "Example has no field called 'weight'."),
        ([], "Example is described by a JSON object, not by list."),
    ],
)
def test_other_json_is_refused_with_its_place(data, sentence):
    with pytest.raises(QueryError) as refusal:
        Example.from_json(data)
    assert refusal.value.sentence == sentence
