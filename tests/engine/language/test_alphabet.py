from __future__ import annotations

import pytest

from relens.errors import LimitError, RegexError
from relens.language.alphabet import alphabet_ranges
from relens.language.compile import compile_language
from relens.query import Edits, Limits, Query


@pytest.mark.parametrize(
    ("alphabet", "ranges"),
    [
        ("[ -~]", ((32, 126),)),
        ("x", ((120, 120),)),
        (r"\d", None),
        ("((?:[a-c]))", ((97, 99),)),
        ("(?P<name>é)", ((233, 233),)),
        ("(?i:k)", ((75, 75), (107, 107), (0x212A, 0x212A))),
        ("[\ud7ff-\ue000]", ((0xD7FF, 0xD7FF), (0xE000, 0xE000))),
    ],
)
def test_one_character(alphabet: str, ranges):
    written = alphabet_ranges(Edits(1, alphabet=alphabet), Limits())
    assert written[0] == (48, 57) if ranges is None else written == ranges


@pytest.mark.parametrize(
    ("alphabet", "position", "complaint"),
    [
        ("ab", 0, "must be one character"),
        ("(a*)", 1, "must be one character"),
        ("()", 1, "must be one character"),
        ("a|b", 0, "must be one character"),
        ("^a", 0, "must be one character"),
        (r"x?", 0, "must be one character"),
        (r"([^\s\S])", 1, "has no character in it"),
        ("\ud800", 0, "has no character in it"),
        ("[a", 0, "nterminated character set"),
        (r"\ba", 0, "word boundary"),
    ],
)
def test_anything_else_is_refused_with_its_place(alphabet: str, position: int, complaint: str):
    with pytest.raises(RegexError, match=complaint) as caught:
        compile_language(Query("a", edits=Edits(1, alphabet=alphabet)))
    error = caught.value
    assert (error.part, error.position, error.source) == ("alphabet", position, alphabet)
    assert f"at position {position}" in str(error)


def test_a_long_alphabet():
    with pytest.raises(LimitError, match=r"^The alphabet of the edits has 40 characters, more than the limit of 30\.$"):
        compile_language(Query("a", edits=Edits(1, alphabet="x" * 40)), Limits(regex_length=30))
