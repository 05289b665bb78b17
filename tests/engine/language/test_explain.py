from __future__ import annotations

import pytest
from hypothesis import given, settings

from relens.errors import RegexError
from relens.language.explain import ExplainedPart, explain
from tests.engine.language.patterns import SUPPORTED, patterns

pytestmark = pytest.mark.filterwarnings("ignore:Possible:FutureWarning")


def words(pattern: str) -> list[tuple[int, str, str]]:
    return [(part.depth, part.text, part.meaning) for part in explain(pattern)]


def check_places(pattern: str) -> None:
    parts = explain(pattern)
    assert parts
    open_parts: list[ExplainedPart] = []
    last_start = 0
    for part in parts:
        assert part.text == pattern[part.start : part.end]
        assert part.meaning
        assert part.start >= last_start, "parts come in reading order"
        last_start = part.start
        assert part.depth <= len(open_parts)
        open_parts = [*open_parts[: part.depth], part]
        if part.depth:
            outer = open_parts[part.depth - 1]
            assert outer.start <= part.start <= part.end <= outer.end, "parts lie within the part above"


@pytest.mark.parametrize("pattern", SUPPORTED)
def test_places(pattern: str):
    check_places(pattern)


@settings(max_examples=100, deadline=None)
@given(pattern=patterns)
def test_places_of_generated_patterns(pattern: str):
    check_places(pattern)


def test_a_date():
    assert words("(January|May) [0-9]{1,2}, [0-9]{4}") == [
        (0, "(January|May)", "group 1: one of 2 alternatives: January, May"),
        (0, " ", "a space"),
        (0, "[0-9]{1,2}", "one digit, 0 to 9, 1 to 2 times"),
        (0, ", ", 'the text ", "'),
        (0, "[0-9]{4}", "one digit, 0 to 9, 4 times"),
    ]


def test_nesting():
    assert words(r"(?P<day>\d+)|never") == [
        (0, r"(?P<day>\d+)|never", r"one of 2 alternatives: (?P<day>\d+), never"),
        (1, r"(?P<day>\d+)", 'group "day": one digit, 0 to 9 in any script, once or more'),
    ]
    assert [part[0] for part in words("((ab*)+|c)d")] == [0, 1, 2, 2, 0]


@pytest.mark.parametrize(
    ("pattern", "meaning"),
    [
        ("", "nothing, the empty text"), ("cat", 'the text "cat"'), (r"\.", 'the character "."'), (r"\t", "a tab"),
        (".", "any character but a line break"), (r"\w", "one letter, digit or underscore in any script"),
        (r"(?a:\d)", "here classes such as \\w stay within ASCII: one digit, 0 to 9"),
        ("[^a-c_]", "any character except a to c, _"), ("[^a]", "any character except a"), ("[a]", 'the character "a"'),
        (r"[\d.]", "one of digit in any script, ."), ("[a-z]?", "one small letter, a to z, once or not at all"),
        ("a{2,}", 'the character "a", 2 times or more'), ("a{0}", 'the character "a", never'),
        ("a{,3}", 'the character "a", up to 3 times, or not at all'), ("[a-b]{2,3}", "one of a to b, 2 to 3 times"),
        ("(?i:k1)", 'here upper and lower case are the same: the text "k1", in upper or lower case'),
        ("(?#x)", "a comment, without effect"),
        ("(ab)*", 'any number of times, or not at all: group 1: the text "ab"'),
        ("a|b|", "one of 3 alternatives: a, b, nothing"),
        ("a|b|c|d|e|f|g|h|i|j", "one of 10 alternatives: a, b, c, d, e, f, g, h, and 2 more"),
    ],
)  # fmt: skip
def test_words(pattern: str, meaning: str):
    assert explain(pattern)[0].meaning == meaning


def test_a_wrong_expression_is_an_error():
    with pytest.raises(RegexError):
        explain("(a")
