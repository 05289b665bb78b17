from __future__ import annotations

import itertools

import numpy as np
import pytest

from relens.errors import LimitError
from relens.language.compile import compile_regex
from relens.language.concatenation import concatenate, mark_prefix
from relens.query import Limits
from tests.engine.language.brute_force import strings_of

WAYS = [
    [("a", "b")],
    [("a", "bc"), ("ab", "c")],
    [("a?", "ab|"), ("a|b", "(a|é)?")],
    [("", "€"), ("é", "")],
    [("(ab){1,3}", "(ab){0,2}"), ("a|b|ab", "[ab]{2}"), ("[ab]{0,2}", "b")],
]


@pytest.mark.parametrize("ways", WAYS)
def test_the_union_of_concatenations(ways: list[tuple[str, str]]):
    pattern = "|".join(f"(?:{before})(?:{after})" for before, after in ways)
    joined = concatenate([(compile_regex(before), compile_regex(after)) for before, after in ways], Limits())
    expected = compile_regex(pattern)
    assert np.array_equal(joined.transitions, expected.transitions)
    assert np.array_equal(joined.final, expected.final)
    assert not joined.in_prefix.any()
    parts = [[strings_of(compile_regex(part)) for part in way] for way in ways]
    assert strings_of(joined) == {
        before + after for befores, afters in parts for before, after in itertools.product(befores, afters)
    }


def test_cycles_and_shared_patterns():
    pattern = compile_regex("(ab)*")
    joined = concatenate([(compile_regex("a*"), pattern), (compile_regex("b"), pattern)], Limits())
    assert np.array_equal(joined.transitions, compile_regex("(a*|b)(ab)*").transitions)


def test_limits():
    ways = [(compile_regex("a{60}"), compile_regex("b{60}"))]
    for most, work in ((100, lambda limits: concatenate(ways, limits)), (30, lambda limits: mark(limits))):
        with pytest.raises(LimitError, match=rf"^The prefix followed by the pattern needs .* limit of {most}\.$"):
            work(Limits(automaton_states=most))


def mark(limits: Limits) -> None:
    mark_prefix(compile_regex("a{60}"), compile_regex("a{60}"), limits)
