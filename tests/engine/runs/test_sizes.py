"""A description of a run is refused for its size before anything is made of it, and for no other reason."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.errors import LimitError, QueryError, RelensError
from relens.runs.sizes import (
    DEEPEST,
    LARGEST_NUMBER,
    LONGEST_TEXT,
    MOST_CHARACTERS,
    MOST_ITEMS,
    MOST_VALUES,
    check_sizes,
)
from relens.runs.specification import StudySpecification, specification_from_json, specification_to_json
from relens.studies.catalogue import STUDIES, presets, study_class


def nested(depth):
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("description", "limit", "words"),
    [
        ({"query": {"pattern": "a" * (LONGEST_TEXT + 1)}}, "text", "query.pattern has 20,001 characters"),
        ({"a" * (LONGEST_TEXT + 1): 1}, "text", "the name of 'aaa"),
        ({"study": {"words": [""] * (MOST_ITEMS + 1)}}, "items", "study.words has 20,001 items"),
        ({"study": {"words": ["ok", "b" * 30_000]}}, "text", r"study.words\[1\] has 30,000 characters"),
        (nested(DEEPEST + 1), "depth", "nested more than 12 deep"),
        ({"seed": LARGEST_NUMBER * 2}, "number", "seed is a larger number"),
        ([["x" * 50] * MOST_ITEMS] * 2, "specification", "1,000,000 characters"),
        ([[1] * MOST_ITEMS] * 11, "specification", "200,000 values"),
    ],
)
def test_a_value_that_is_too_large_is_named_with_its_place(description, limit, words):
    with pytest.raises(LimitError, match=words) as refused:
        check_sizes(description)
    assert refused.value.limit == limit


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_nan_and_infinity_are_refused(number):
    with pytest.raises(QueryError, match=r"limits\.seconds is no number"):
        check_sizes({"limits": {"seconds": number}})


def test_values_at_the_limit_are_taken():
    check_sizes({"pattern": "a" * LONGEST_TEXT, "words": ["b"] * MOST_ITEMS, "seed": LARGEST_NUMBER})
    check_sizes(nested(DEEPEST - 1))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(), part, max_size=4),
    )
)
def test_a_small_description_is_refused_for_its_numbers_or_its_depth_alone(description):
    sentence = ""
    try:
        check_sizes(description)
    except RelensError as error:
        sentence = error.sentence
    assert not sentence or "number" in sentence or "deep" in sentence


def test_looking_at_a_large_description_takes_little_memory():
    description = [["x" * 10] * 1_000] * 1_000
    tracemalloc.start()
    with pytest.raises(LimitError):
        check_sizes(description)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 20_000_000


@pytest.mark.parametrize("kind", STUDIES)
def test_every_preset_of_every_study_is_small_enough(kind):
    for study in (study_class(kind)(), *presets(kind).values()):
        specification = StudySpecification("smollm2-135m", study)
        assert specification_from_json(specification_to_json(specification)) == specification


def test_the_size_is_looked_at_before_the_kind():
    with pytest.raises(LimitError):
        specification_from_json({"kind": "no such kind", "text": "a" * (MOST_CHARACTERS + 1)})
    with pytest.raises(LimitError):
        specification_from_json({"kind": "search", "values": [[0] * MOST_ITEMS] * (MOST_VALUES // MOST_ITEMS + 1)})
