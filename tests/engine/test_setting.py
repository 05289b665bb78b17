"""One declaration says which values have a meaning, how they are described, and which are refused."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.errors import QueryError
from relens.query import Decoding, Distribution, Edits, Encoding, Exclude, Limits, Query, Sampling, ShortestPath
from relens.record import Record
from relens.setting import Setting, ceilings_of, check_settings, declared, described, settings_of
from relens.studies.catalogue import STUDIES, study_class
from relens.triggers.causal.coordinate import CoordinateSearch
from relens.triggers.causal.gcg import GreedyCoordinateGradient
from relens.triggers.causal.template import Template
from relens.triggers.model.recipe import Recipe
from relens.triggers.objective import Objective
from relens.triggers.relaxation.settings import RelaxationSettings
from relens.triggers.search.search_settings import SearchSettings

RECORDS = [
    *(Query, Decoding, Edits, Exclude, ShortestPath, Sampling, Distribution, Limits),
    *(SearchSettings, Objective, RelaxationSettings, Recipe, Template, CoordinateSearch, GreedyCoordinateGradient),
    *map(study_class, STUDIES),
]

#: Fields of studies that no setting describes, and why.
UNDECLARED = {
    ("memorization", "validator"): "one of several kinds of records, of which the default has no field",
    ("toxicity", "inputs"): "sentences that were made of a text and of words, which are the settings",
}


@dataclass(frozen=True)
class Example:
    """A record with a setting of each kind."""

    whole: Annotated[int, Setting("Whole", "A *whole* number.", least=1, most=9, ceiling=5)] = 2
    share: Annotated[float | None, Setting("Share", above=0.0, below=1.0, empty="all")] = None
    lines: Annotated[tuple[str, ...], Setting("Lines", fewest=1, most_items=3, distinct=True)] = ("a",)
    way: Annotated[Literal["left", "right"], Setting("Way", choices={"left": "Left", "right": "Right"})] = "left"
    ways: Annotated[tuple[Encoding, ...], Setting("Ways")] = (Encoding.ALL,)
    name: Annotated[str, Setting("Name", fewest=1)] = "x"
    other: str = ""


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"whole": 0}, "“Whole” must be between 1 and 9, not 0."),
        ({"share": 0.0}, "“Share” must be above 0 and below 1, not 0.0."),
        ({"share": math.nan}, "“Share” must be above 0 and below 1, not nan."),
        ({"lines": ()}, "“Lines” must have at least 1, not 0."),
        ({"lines": ("a", "b", "c", "d")}, "“Lines” must have at most 3, not 4."),
        ({"lines": ("a", "b", "a")}, "In “Lines”, 'a' is there twice."),
        ({"lines": ("a", " ")}, "In “Lines”, an item is empty."),
        ({"way": "up"}, "“Way” must be one of 'left', 'right', not 'up'."),
        ({"ways": ("up",)}, "“Ways” must be one of 'all', 'canonical', not 'up'."),
        ({"name": ""}, "“Name” must not be empty."),
        ({"whole": None}, "“Whole” must not be empty."),
    ],
)
def test_a_value_without_meaning_is_refused_in_a_sentence(values, sentence):
    with pytest.raises(QueryError) as refusal:
        check_settings(Example(**values))
    assert refusal.value.sentence == sentence


def test_values_within_the_bounds_are_let_be():
    check_settings(Example())
    check_settings(Example(whole=9, share=0.5, lines=("a", "b"), way="right", ways=(), name=" "))


@given(st.floats(-3.0, 3.0), st.floats(-2.0, 0.0), st.floats(0.0, 2.0), st.booleans(), st.booleans())
def test_bounds_are_those_of_an_interval(number, low, high, is_low_in, is_high_in):
    bounds = {"least" if is_low_in else "above": low, "most" if is_high_in else "below": high}
    inside = (number >= low if is_low_in else number > low) and (number <= high if is_high_in else number < high)
    assert Setting("x", **bounds).allows(number) == inside


def test_a_record_is_described_with_bounds_and_values():
    lines = "\n".join(described(Example(whole=3)))
    assert "whole: Whole (whole number between 1 and 9; default 3)" in lines
    assert "A whole number." in lines
    assert "share: Share (number above 0 and below 1, or null: all; default null)" in lines
    assert "way: Way ('left' or 'right'; default left)" in lines
    assert ceilings_of(Example) == {"whole": 5}


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_declarations_are_complete(record):
    for one in settings_of(record):
        assert one.setting.label, one.name
        assert one.setting.label == one.setting.label.strip()
        assert not one.setting.help or one.setting.help.endswith((".", "`", "?")), one.name
        if one.default is not None and one.setting.ceiling is not None:
            assert one.default <= one.setting.ceiling, one.name


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_each_wrong_value_is_refused_and_the_default_is_not(record):
    for one in settings_of(record):
        for value in one.wrong_values():
            with pytest.raises(QueryError) as refusal:
                one.check(value)
            assert f"“{one.setting.label}”" in refusal.value.sentence


@pytest.mark.parametrize("kind", STUDIES)
def test_a_study_refuses_what_one_of_its_settings_refuses(kind):
    study = study_class(kind)
    for one in settings_of(study):
        for value in one.wrong_values():
            with pytest.raises(QueryError):
                study(**{one.name: value}).check()


@pytest.mark.parametrize("kind", STUDIES)
def test_every_setting_of_a_study_is_declared_or_a_record_of_such(kind):
    study = study_class(kind)()
    declared_here = {one.name for one in settings_of(type(study))}
    left = [item.name for item in dataclasses.fields(study) if item.name not in declared_here]
    values = {name: getattr(study, name) for name in left}
    unknown = [name for name, value in values.items() if not (isinstance(value, Record) and settings_of(type(value)))]
    assert unknown == [name for of, name in UNDECLARED if of == kind]


@pytest.mark.parametrize("kind", STUDIES)
def test_every_field_of_a_study_is_described(kind):
    study = study_class(kind)
    lines = list(described(study()))
    names = [item.name for item in dataclasses.fields(study)]
    assert [line.split()[0].rstrip(":,") for line in lines if line.startswith("  ") and line[2] != " "] == names


def test_the_choices_of_a_literal_are_its_values():
    assert list(declared(Example, "ways").setting.choices) == list(Encoding)
    assert list(declared(ShortestPath, "rank").setting.choices) == ["conditional", "joint"]
