from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings

from relens.errors import LimitError, RegexError
from relens.language.syntax import DEEPEST_NESTING, parse_regex
from relens.language.tree import Alternation, Characters, Concatenation, Group, Marker, Node, Repetition
from relens.query import Limits
from tests.engine.language.patterns import MALFORMED, REFUSED, SUPPORTED, patterns

pytestmark = pytest.mark.filterwarnings("ignore:Possible:FutureWarning")


def children(node: Node) -> tuple[Node, ...]:
    match node:
        case Concatenation(items=items):
            return items
        case Alternation(branches=branches):
            return branches
        case Repetition(item=item) | Group(item=item):
            return (item,)
    return ()


def every_node(node: Node) -> list[Node]:
    return [node, *(inner for child in children(node) for inner in every_node(child))]


@pytest.mark.parametrize(("pattern", "position", "word"), REFUSED)
def test_irregular_expressions_are_refused_with_the_place(pattern: str, position: int, word: str):
    with pytest.raises(RegexError) as caught:
        parse_regex(pattern, part="prefix")
    error = caught.value
    assert (error.position, error.part, error.source) == (position, "prefix", pattern)
    assert word in str(error)
    assert str(error).endswith(f"at position {position} of the prefix.")


@pytest.mark.parametrize("pattern", MALFORMED)
def test_malformed_expressions_have_pythons_error(pattern: str):
    with pytest.raises(RegexError) as caught:
        parse_regex(pattern)
    error = caught.value
    with pytest.raises((re.error, OverflowError, ValueError)) as complained:
        re.compile(pattern)
    complaint = complained.value
    if isinstance(complaint, re.error):
        assert error.position == complaint.pos
        assert complaint.msg[1:] in str(error)
    else:
        assert "too large" in str(error)
    assert str(error)[0].isupper()
    assert str(error).endswith(".")
    assert "\n" not in str(error)


def test_a_number_that_is_too_large_has_a_place():
    with pytest.raises(RegexError) as caught:
        parse_regex("ab{3}c{99999999999}")
    assert caught.value.position == 6


def test_the_caret_is_under_the_mistake():
    with pytest.raises(RegexError) as caught:
        parse_regex("ab\ncd(")
    assert caught.value.caret() == "cd(\n  ^"


def test_deep_nesting_is_one_sentence():
    for depth in (DEEPEST_NESTING + 1, 900, 5000):
        with pytest.raises(RegexError, match="nested more than"):
            parse_regex("(" * depth + "a" + ")" * depth)
    parse_regex("(" * DEEPEST_NESTING + "a" + ")" * DEEPEST_NESTING)
    parse_regex(r"[(]" * 500 + r"\(" * 500 + "(a)" * 500)


def test_length_is_limited():
    with pytest.raises(LimitError) as caught:
        parse_regex("a" * 11, Limits(regex_length=10))
    assert caught.value.limit == "regex_length"
    parse_regex("a" * 10, Limits(regex_length=10))


def test_groups_keep_their_names_and_numbers():
    tree = parse_regex(r"(?P<year>\d{4})-(?:(\d)|(?P<last>x))")
    groups = [(node.number, node.name) for node in every_node(tree) if isinstance(node, Group)]
    assert groups == [(1, "year"), (None, None), (2, None), (3, "last")]


def test_counts_and_laziness():
    tree = parse_regex("a*b+?c?d{2}e{2,}f{,3}g{1,2}?")
    counts = [(node.minimum, node.maximum, node.lazy) for node in every_node(tree) if isinstance(node, Repetition)]
    assert counts == [
        (0, None, False), (1, None, True), (0, 1, False), (2, 2, False), (2, None, False), (0, 3, False), (1, 2, True)
    ]  # fmt: skip


def check_places(pattern: str) -> None:
    """Every node lies within its parent, after its elder siblings, and its text means the same by itself."""
    tree = parse_regex(pattern)
    for node in every_node(tree):
        assert 0 <= node.start <= node.end <= len(pattern)
        places = [node.start, *(place for child in children(node) for place in (child.start, child.end)), node.end]
        assert places == sorted(places), pattern
        text = pattern[node.start : node.end]
        if isinstance(node, Characters):
            compiled = re.compile(text, node.flags & (re.I | re.A | re.S))
            source = random.Random(0)
            for low, high in node.ranges[:20]:
                assert compiled.fullmatch(chr(source.randint(low, high))), (pattern, text)
        if isinstance(node, Group):
            assert text[0] == "("
            assert text[-1] == ")"
        if isinstance(node, Marker):
            assert text in ("^", "$", r"\A", r"\Z") or text.startswith("(?")


@pytest.mark.parametrize("pattern", SUPPORTED)
def test_places(pattern: str):
    check_places(pattern)


@settings(max_examples=100, deadline=None)
@given(pattern=patterns)
def test_places_of_generated_patterns(pattern: str):
    check_places(pattern)


def test_group_numbers_are_pythons():
    for pattern in SUPPORTED:
        named = {node.name: node.number for node in every_node(parse_regex(pattern)) if isinstance(node, Group)}
        named.pop(None, None)
        assert named == dict(re.compile(pattern).groupindex)
