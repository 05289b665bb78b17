"""The language of an expression is what `re.fullmatch` accepts: the oracle for parsing and compiling together."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relens.errors import LimitError, RegexError
from relens.language.compile import compile_regex
from relens.query import Limits
from tests.engine.language.patterns import STRINGS, SUPPORTED, matching_string, mutated, patterns

pytestmark = pytest.mark.filterwarnings("ignore:Possible:FutureWarning")


SMALL = Limits(automaton_states=400)


def is_utf8(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def test_the_patterns_are_many():
    assert len(SUPPORTED) >= 300


@pytest.mark.parametrize("pattern", SUPPORTED)
def test_agrees_with_fullmatch(pattern: str):
    automaton = compile_regex(pattern)
    oracle = re.compile(pattern)
    source = random.Random(ascii(pattern))
    matching = [text for _ in range(25) if (text := matching_string(pattern, source)) is not None]
    tried = {
        *STRINGS,
        *matching,
        *(mutated(text, source) for text in matching),
        *(mutated(text, source) for text in matching),
    }
    matched = 0
    for text in sorted(tried):
        expected = is_utf8(text) and oracle.fullmatch(text) is not None
        assert automaton.accepts(text) == expected, (pattern, text)
        matched += expected
    assert matched or pattern == r"[^\s\S]"


# Some generated patterns take exponential time, here or in `re`; the same examples every time keep the suite's time.
@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(pattern=patterns, seed=st.integers(0, 2**32), text=st.text(max_size=6))
def test_generated_patterns_agree_with_fullmatch(pattern: str, seed: int, text: str):
    oracle = re.compile(pattern)
    try:
        automaton = compile_regex(pattern, SMALL)
    except LimitError:  # one sentence is an answer too, and a rare one
        return
    source = random.Random(seed)
    matching = [string for _ in range(8) if (string := matching_string(pattern, source, most=2)) is not None]
    for candidate in {text, "", *matching, *(mutated(string, source) for string in matching)}:
        expected = is_utf8(candidate) and oracle.fullmatch(candidate) is not None
        assert automaton.accepts(candidate) == expected, (pattern, candidate)


@settings(max_examples=30, deadline=None)
@given(pattern=st.text(alphabet="ab(|)*+?{1,2}[^]-\\dw.$", max_size=9))
def test_arbitrary_text_agrees_or_is_refused(pattern: str):
    try:
        oracle: re.Pattern[str] | None = re.compile(pattern)
    except re.error:
        oracle = None
    try:
        automaton = compile_regex(pattern)
    except (RegexError, LimitError):
        return
    assert oracle is not None
    for text in ("", "a", "b", "ab", "ba", "aab", "d", "1", "{1}", "a{1,", "-", "w", "a$"):
        assert automaton.accepts(text) == (oracle.fullmatch(text) is not None), (pattern, text)
