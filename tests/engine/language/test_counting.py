from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.language.compile import compile_regex
from relens.language.counting import (
    count_strings,
    count_strings_up_to,
    describe_count,
    example_strings,
    is_finite,
    longest_length,
    shortest_length,
)

_ab_patterns = st.recursive(
    st.sampled_from(["a", "b", "[ab]", "é", ""]),
    lambda inner: st.one_of(
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}){}".format, inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}"])),
    ),
    max_leaves=6,
)
MOST_BYTES = 6
TEXTS = [
    "".join(letters)
    for length in range(MOST_BYTES + 1)
    for letters in itertools.product("abé", repeat=length)
    if len("".join(letters).encode()) <= MOST_BYTES
]


@settings(max_examples=80, deadline=None)
@given(pattern=_ab_patterns)
def test_counts_agree_with_enumeration(pattern: str):
    automaton = compile_regex(pattern)
    matched = [text for text in TEXTS if re.fullmatch(pattern, text)]
    for length in range(MOST_BYTES + 1):
        assert count_strings_up_to(automaton, length) == sum(len(text.encode()) <= length for text in matched)
    total, longest = count_strings(automaton), longest_length(automaton)
    assert is_finite(automaton) == (total is not None) == (longest is not None)
    if longest is not None and longest <= MOST_BYTES:
        assert total == len(matched)
        assert longest == max(len(text.encode()) for text in matched)
    if matched:
        assert shortest_length(automaton) == min(len(text.encode()) for text in matched)
    examples = example_strings(automaton, 5)
    assert len(set(examples)) == len(examples) == (5 if total is None else min(5, total))
    assert all(re.fullmatch(pattern, example) for example in examples)
    lengths = [len(example.encode()) for example in examples]
    assert lengths == sorted(len(text.encode()) for text in matched)[: len(lengths)] or max(lengths) > MOST_BYTES


def test_exact_beyond_any_float():
    assert count_strings(compile_regex("[ab]{1000}")) == 2**1000
    assert count_strings(compile_regex("[^\n]{50}(?s:.)")) == 1112063**50 * 1112064
    assert count_strings(compile_regex("(January|May) [0-9]{1,2}, [0-9]{4}")) == 2 * 110 * 10_000
    assert count_strings_up_to(compile_regex("[ab]*"), 300) == 2**301 - 1


def test_an_empty_language_and_the_empty_string():
    empty, only = compile_regex(r"[^\s\S]"), compile_regex("")
    assert (count_strings(empty), count_strings_up_to(empty, 9), example_strings(empty, 3)) == (0, 0, ())
    assert (shortest_length(empty), longest_length(empty), is_finite(empty)) == (None, 0, True)
    assert (count_strings(only), count_strings_up_to(only, 9), example_strings(only, 3)) == (1, 1, ("",))
    assert (shortest_length(only), longest_length(only)) == (0, 0)


def test_examples_are_short_and_readable():
    assert example_strings(compile_regex("(cat|dog)s?"), 9) == ("cat", "dog", "cats", "dogs")
    assert example_strings(compile_regex("."), 3) == ("a", "b", "c")
    assert example_strings(compile_regex("é|x|!|\t|7"), 9) == ("x", "7", "!", "\t", "é")
    assert example_strings(compile_regex(r"\w{5}!"), 2) == ("aaaaa!", "aaaab!")


def test_a_long_language_is_counted_without_recursion():
    automaton = compile_regex("(ab){3000}c?")
    assert count_strings(automaton) == 2
    assert longest_length(automaton) == 6001
    assert example_strings(automaton, 3) == ("ab" * 3000, "ab" * 3000 + "c")


@pytest.mark.parametrize(
    ("count", "words"),
    [(None, "infinitely many"), (0, "0"), (1, "1"), (13_200_000, "13,200,000"), (10**15 - 1, "999,999,999,999,999"),
     (10**15, "about 10^15"), (10**245, "about 10^245"), (10**1234, "about 10^1,234")],
)  # fmt: skip
def test_counts_in_words(count: int | None, words: str):
    assert describe_count(count) == words


def test_a_count_with_more_digits_than_python_prints():
    assert describe_count(10**12_345) == "about 10^12,345"
