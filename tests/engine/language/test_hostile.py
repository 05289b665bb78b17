"""Hostile expressions take time in proportion to their length, and are refused as they always were."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.errors import RegexError, RelensError
from relens.language.characters import atom_items, atom_ranges
from relens.language.explain import explain
from relens.language.groups import GroupReader
from relens.language.syntax import parse_regex
from tests.engine.language.hostile import FLAT, GROUPS, HOSTILE, NESTED

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore:Possible:FutureWarning")]

#: Four times the length may take so many times as long; quadratic work takes sixteen times as long.
MOST_GROWTH = 10.0
#: Less than this is measured too roughly to be compared.
LEAST_SECONDS = 0.02

READERS: dict[str, Callable[[str], object]] = {
    "parse": parse_regex,
    "explain": explain,
    # With a named group, because without one there is no program to make.
    "groups": lambda source: GroupReader("(?P<x>x)", source),
}


def cpu_seconds(read: Callable[[str], object], source: str) -> float:
    """In time that other processes have no part in, with nothing remembered."""
    atom_ranges.cache_clear()
    atom_items.cache_clear()
    begun = time.thread_time()
    with contextlib.suppress(RelensError):
        read(source)
    return time.thread_time() - begun


def takes_longer(read: Callable[[str], object], shorter: str, longer: str) -> bool:
    """Whether it takes more than `MOST_GROWTH` times as long for one as for the other, whenever it is tried."""
    return all(
        cpu_seconds(read, longer) > MOST_GROWTH * max(cpu_seconds(read, shorter), LEAST_SECONDS) for _ in range(4)
    )


@pytest.mark.parametrize(
    ("reader", "family"),
    [(reader, name) for reader in READERS for name in (HOSTILE if reader == "parse" else GROUPS | NESTED)],
)
def test_time_grows_as_the_length_does(family: str, reader: str):
    made = HOSTILE[family]
    assert not takes_longer(READERS[reader], made(5_000), made(19_999))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("family", NESTED)
def test_nested_expressions_take_little_longer_than_flat_ones(family: str, reader: str):
    assert not takes_longer(READERS[reader], FLAT["groups"](9_999), NESTED[family](9_999))


@pytest.mark.parametrize("family", HOSTILE)
def test_each_is_an_expression_of_about_its_length(family: str):
    assert 19_000 < len(HOSTILE[family](19_999)) <= 20_000


def first_huge_count(source: str) -> int | None:
    """Written plainly: the first `{...}` of digits and at most one comma that has ten digits in a row."""
    for start in range(len(source)):
        for end in range(start, len(source)):
            body = source[start + 1 : end]
            if source[start] == "{" and source[end] == "}" and re.fullmatch("[0-9]*,?[0-9]*", body):
                if re.search("[0-9]{10}", body):
                    return start
                break
    return None


PIECES = st.sampled_from(
    ["a", "b", "{", "}", ",", "{,", ",}", "1" * 9, "1" * 10, "9" * 11, "a{1}", "a{2,3}", "a{99999999999}", "[{]", r"\{"]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=9).map("".join))
def test_a_number_that_is_too_large_is_refused_where_the_first_one_stands(pieces: str):
    source = f"{pieces}c{{9,{'9' * 12}}}"
    with pytest.raises(RegexError) as refused:
        parse_regex(source)
    if "too large" in refused.value.sentence:
        place = first_huge_count(source)
        assert refused.value.position == place
        assert refused.value.sentence == f"A number of repetitions is too large, at position {place} of the pattern."
