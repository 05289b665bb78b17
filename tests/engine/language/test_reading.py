from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from relens.language.compile import compile_language
from relens.language.nearest import Edit
from relens.language.reading import Reader, Reading
from relens.query import Edits, Limits, Query


def reader(pattern: str, prefix: str = "", **edits) -> Reader:
    query = Query(pattern, prefix, edits=Edits(**edits))
    return Reader(query, compile_language(query), Limits())


def test_nothing_to_read():
    plain = reader("cats?")
    assert plain.read("cat") is plain.read("dog")
    assert plain.read("cat") == Reading({}, (), None)
    assert plain.names == ()


def test_groups_without_edits():
    named = reader(r" was (?P<what>art|science)(?P<end>\.)?", "The (?P<who>man|woman)")
    assert named.names == ("who", "what", "end")
    assert named.read("The man was art") == Reading({"who": "man", "what": "art", "end": ""})
    assert named.read("The man was here") == Reading({"who": None, "what": None, "end": None})


def test_edits_without_groups():
    edited = reader(" sat", "The cat", distance=1)
    assert edited.read("The cat sit") == Reading({}, (Edit("substitution", 9, "a", "i", "pattern"),), "The cat sat")
    assert edited.read("The cat sat") == Reading({}, (), "The cat sat")
    assert edited.read("something else") == Reading({}, (), None)


def test_groups_of_the_nearest_string():
    edited = reader(r" was trained in (?P<what>art|math)", "The (?P<who>man|woman)", distance=1)
    reading = edited.read("The womn was trained in art")
    assert reading.groups == {"who": "woman", "what": "art"}
    assert reading.edits == (Edit("deletion", 7, "a", "", "prefix"),)
    assert reading.unedited == "The woman was trained in art"
    assert edited.read("The woan was trained in math").groups == {"who": "woman", "what": "math"}


def test_groups_on_which_the_nearest_strings_disagree_are_none():
    edited = reader("(?P<animal>cat|bat) s(?P<vowel>[aiu])t(?P<end>[.!]?)", distance=1)
    assert edited.read("at sit.").groups == {"animal": None, "vowel": "i", "end": "."}
    assert edited.read("cat st!").groups == {"animal": "cat", "vowel": None, "end": "!"}
    assert edited.read("cat sat").groups == {"animal": "cat", "vowel": "a", "end": ""}


def test_classes_too_large_to_list():
    edited = reader(r"(?P<word>\w+)[^\d](?P<end>; end| fin)", distance=1)
    # Either the 1 stands for a character that is no digit, or such a character was left out after it.
    assert edited.read("hello1; end").groups == {"word": None, "end": "; end"}
    between = reader(r"(?P<first>[a-z]+)=\w;(?P<last>[a-z]+)", distance=1)
    assert between.read("ab=;cd").groups == {"first": "ab", "last": "cd"}


def test_an_empty_prefix_with_edits_in_the_prefix():
    query = Query("(?P<x>a)", edits=Edits(1, "prefix"))
    assert Reader(query, compile_language(query)).read("a").groups == {"x": "a"}


_PATTERNS = {
    pattern: ["".join(text) for length in range(6) for text in itertools.product("abc-", repeat=length)]
    for pattern in [
        "(?P<x>[ab]*)-(?P<y>[ab]c?)",
        "(?P<x>a|b)(?P<y>[abc])?-?",
        "(?P<x>(?P<y>a)|b)*c",
        "(?P<x>[a-c]{2})-",
    ]
}


@pytest.mark.parametrize("pattern", _PATTERNS)
def test_agrees_with_brute_force(pattern: str):
    strings = [text for text in _PATTERNS[pattern] if re.fullmatch(pattern, text)]
    edited = reader(pattern, distance=2, alphabet="[a-c!-]")

    @settings(max_examples=60)
    @given(text=st.text("abc-!", max_size=4))
    def agrees(text: str):
        distances = {string: Levenshtein.distance(string, text) for string in strings}
        least = min(distances.values())
        reading = edited.read(text)
        if least > 2:
            assert reading == Reading(dict.fromkeys(edited.names), (), None)
            return
        nearest = sorted(string for string in strings if distances[string] == least)
        assert reading.unedited == nearest[0]
        assert len(reading.edits) == least
        readings = [re.fullmatch(pattern, string).groupdict("") for string in nearest]
        for name in edited.names:
            values = {groups[name] for groups in readings}
            assert reading.groups[name] == (values.pop() if len(values) == 1 else None)

    agrees()
