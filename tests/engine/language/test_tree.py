"""Which expressions match the empty string, as Python's `re` has it; and those for which `re` would take for ever."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.language.syntax import parse_regex
from relens.language.tree import matches_empty

_ATOMS = st.sampled_from(["a", "[bc]", "", "()", r"\d", "(?:)", "(?i:x)", "a?", "b*", "c{0,2}", "d{0}"])


def _grow(inner):
    return st.one_of(
        st.lists(inner, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,1}", "{1,}"])).map(
            lambda both: f"({both[0]}){both[1]}"
        ),
    )


@given(st.recursive(_ATOMS, _grow, max_leaves=8))
def test_as_python_has_it(expression):
    assert matches_empty(parse_regex(expression)) == (re.fullmatch(expression, "") is not None)


@pytest.mark.parametrize(
    ("expression", "is_empty"), [("(?:(?:(?:a?){9999}){9999}){9999}", True), ("(?:a{9999}){9999}", False)]
)
def test_counts_cost_nothing(expression, is_empty):
    assert matches_empty(parse_regex(expression)) == is_empty
