"""One string against an expression, as Python's `re` has it; and what takes too long is left open, at once."""

from __future__ import annotations

import random
import re
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relens.language.groups import fully_matches
from relens.language.syntax import DEEPEST_NESTING, parse_regex
from tests.engine.language.patterns import STRINGS, SUPPORTED, matching_string, mutated, patterns

pytestmark = pytest.mark.filterwarnings("ignore:Possible:FutureWarning")


@pytest.mark.parametrize("pattern", SUPPORTED)
def test_agrees_with_fullmatch(pattern):
    tree, oracle, source = parse_regex(pattern), re.compile(pattern), random.Random(ascii(pattern))
    matching = [text for _ in range(5) if (text := matching_string(pattern, source)) is not None]
    for text in {*STRINGS, *matching, *(mutated(text, source) for text in matching)}:
        assert fully_matches(tree, text) == (oracle.fullmatch(text) is not None), (pattern, text)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(pattern=patterns, seed=st.integers(0, 2**32), text=st.text(max_size=6))
def test_generated_patterns_agree_with_fullmatch(pattern, seed, text):
    tree, oracle, source = parse_regex(pattern), re.compile(pattern), random.Random(seed)
    matching = [string for _ in range(4) if (string := matching_string(pattern, source, most=2)) is not None]
    for candidate in {text, "", *matching, *(mutated(string, source) for string in matching)}:
        assert fully_matches(tree, candidate) == (oracle.fullmatch(candidate) is not None), (pattern, candidate)


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("(a*)*b", "a" * 5000, False),
        ("(a|aa)*b", "a" * 5000, False),
        ("(?:(?:(?:a?){9999}){9999}){9999}b", "a" * 5000, False),
        ("(" * DEEPEST_NESTING + "a" + "|b)*" * DEEPEST_NESTING + "c", "ab" * 2000, False),
        (".*" * 3000, "a" * 10_000, True),
        ("x{0,4000000000}y", "x" * 10_000, False),
        ("|".join(f"a{number}" for number in range(3000)), "a2999", True),
    ],
)
def test_it_never_takes_long(pattern, text, matches):
    tree = parse_regex(pattern)
    begun = time.process_time()
    answer = fully_matches(tree, text)
    assert time.process_time() - begun < 2.0
    assert answer in (None, matches)


def test_too_many_steps_leave_the_question_open():
    tree = parse_regex("[a-z]+")
    assert fully_matches(tree, "abc", most_steps=3) is None
    assert fully_matches(tree, "abc") is True
