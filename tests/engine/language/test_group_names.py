"""Names of groups read off a text, against those that a parser finds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.language.group_names import group_names
from relens.language.groups import GroupReader
from tests.engine.language.hostile import FLAT
from tests.engine.language.patterns import SUPPORTED, patterns
from tests.steps import grows_too_fast

pytestmark = pytest.mark.filterwarnings("ignore:Possible:FutureWarning")

TRICKY = [
    r"(?P<a>b)[(?P<no>](?P<c>\d)",
    r"\(?P<no>(?P<a>x)\\(?P<b>y)\[(?P<c>z)]",
    r"[](?P<no>](?P<a>x)[^](?P<no>](?P<b>y)[\](?P<no>](?P<c>z)",
    "(?#(?P<no>)(?P<a>b)",
    "(?x)(?P<a>b) # (?P<no>c)\n (?P<d>e)",
    "(?x)a\\# (?P<a>b) [#] (?P<c>d) # (?P<no>",
    "(?x: # (?P<no>)\n (?P<a>b)) # (?P<b>c)",
    "(?x)(?-x: # (?P<a>b)) # (?P<no>c)\n(?P<d>e)",
    "(?ix-s:(# )\n (?P<a>b))) # (?P<b>c)",
    "(?P<a>(?P<b>c)(?:(?P<d>e)))",
    "(?i)(?P<année>b)",
    "#(?P<a>b)#",
]


@pytest.mark.parametrize("pattern", [*SUPPORTED, *TRICKY])
def test_names_are_those_that_the_parser_finds(pattern):
    assert group_names(pattern) == GroupReader("", pattern).names
    assert group_names(pattern, "(?P<last>x)") == GroupReader(pattern, "(?P<last>x)").names


@settings(max_examples=300, deadline=None)
@given(pattern=patterns)
def test_names_of_generated_patterns(pattern):
    assert group_names(pattern) == GroupReader("", pattern).names


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(
    ["(?P<a>", "(?P<b>", "(", "(?:", "(?x:", "(?-x:", ")", "#", "\n", "[", "]", "^", "\\", "(?#", "a", "|", "*", "(?x)"]
), max_size=12).map("".join))  # fmt: skip
def test_names_of_any_text_that_python_accepts(pattern):
    try:
        expected = tuple(re.compile(pattern).groupindex)
    except re.error:
        group_names(pattern)  # some names, without an error
    else:
        assert group_names(pattern) == expected


@pytest.mark.parametrize("family", FLAT)
def test_time_is_linear_in_the_text(family):
    assert not grows_too_fast(group_names, FLAT[family])


@pytest.mark.parametrize("unit", ["(?P<a", "(?#", "[", "[^", "(?i", "(?i-", "(?x)#", "\\"])
def test_time_is_linear_in_unfinished_texts(unit):
    assert not grows_too_fast(group_names, lambda length: unit * (length // len(unit)))
