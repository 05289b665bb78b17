from __future__ import annotations

import re
import sys

import numpy as np
import pytest

from relens.errors import LimitError
from relens.language.character_classes import CharacterArcs, spelled
from relens.language.characters import category_ranges
from relens.language.compile import compile_regex
from relens.language.deterministic import automaton_of_arcs
from relens.language.openfst import minimal
from relens.language.syntax import parse_regex
from relens.query import Limits
from tests.engine.language.patterns import SUPPORTED

pytestmark = pytest.mark.filterwarnings("ignore:Possible:FutureWarning")

DIGITS = ((48, 57),)


@pytest.mark.parametrize("pattern", SUPPORTED)
def test_by_way_of_characters_is_the_same_as_by_bytes(pattern: str):
    characters = CharacterArcs(parse_regex(pattern), DIGITS, "The pattern")
    smallest = minimal(characters.arcs, 100_000, "The pattern")
    expected = compile_regex(pattern)
    if not len(smallest.final):
        assert expected.is_empty
        return
    automaton = automaton_of_arcs(spelled(smallest, characters.classes, "The pattern"), Limits(), "The pattern")
    assert np.array_equal(automaton.transitions, expected.transitions)
    assert np.array_equal(automaton.final, expected.final)


@pytest.mark.parametrize("pattern", [r"\w[é-€]", r"[^a]\d|.", r"(?i:k)[a-z]*", r"[\ud7ff-\ue000]\W", "日本語"])
def test_classes_are_as_few_as_tell_the_sets_apart(pattern: str):
    classes = CharacterArcs(parse_regex(pattern), DIGITS, "The pattern").classes
    sets = [atom for atom in re.findall(r"\[[^]]*\]|\\.|\(\?i:k\)|[^|*()\\]", pattern) if atom != "|"] + ["[0-9]"]
    matchers = [re.compile(atom) for atom in sets]
    number = {
        code: place for place, ranges in enumerate(classes) for low, high in ranges for code in range(low, high + 1)
    }
    assert len(number) == sum(high - low + 1 for ranges in classes for low, high in ranges), "classes overlap"
    kinds = {}
    for code in range(0, sys.maxunicode + 1, 7):
        memberships = tuple(bool(matcher.fullmatch(chr(code))) for matcher in matchers)
        spellable = any(memberships) and not 0xD800 <= code < 0xE000
        assert spellable == (code in number), hex(code)
        if spellable:
            assert kinds.setdefault(memberships, number[code]) == number[code], hex(code)
    assert len(set(kinds.values())) == len(kinds)


def test_a_class_need_not_be_an_interval():
    characters = CharacterArcs(parse_regex(r"\w+"), DIGITS, "The pattern")
    assert len(characters.classes) == 2
    assert [characters.classes[number] for number in characters.extra] == [DIGITS]
    assert len(category_ranges(r"\w", False)) > 700


def test_automata_too_large_to_build_are_refused():
    letters = "".join(f"[{chr(code)}-\U0010ffff]" for code in range(0x4E00, 0x4E00 + 4000))
    with pytest.raises(LimitError, match=r"^The pattern takes [0-9,]+ automaton arcs to build, more than 5,000,000\.$"):
        CharacterArcs(parse_regex(letters, Limits(regex_length=100_000)), DIGITS, "The pattern")
