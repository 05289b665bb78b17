from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.language.character_steps import CharacterSteps
from relens.language.compile import compile_regex

CHARACTERS = "aAkz09 \n_é߿ࠀ€\ud7ff\ue000\uffff\U00010000😀\U0010ffff"


@pytest.mark.parametrize(
    "pattern", ["[é€]", "[a-cé-ü€😀]", "a|é(b|€)", r"\w", "(?s:.)", "[^a-z]", "[\ue000-\U0010ffff]"]
)
def test_steps_are_those_of_the_bytes(pattern: str):
    automaton = compile_regex(pattern)
    steps = CharacterSteps(automaton)
    for character in CHARACTERS:
        assert steps.step(0, character.encode()) == automaton.run(character.encode())
    reached = {automaton.run(character.encode()) for character in map(chr, range(0x3000))} - {-1}
    assert reached <= steps.destinations(0)
    for destination in steps.destinations(0):
        first = next(steps.characters(0, frozenset([destination])))
        assert len(first.decode()) == 1
        assert automaton.run(first) == destination
    assert steps.destinations(next(iter(steps.destinations(0)))) == frozenset() or "|" in pattern


@settings(max_examples=60)
@given(firsts=st.sets(st.characters(codec="utf-8"), min_size=1, max_size=8), picks=st.integers(0, 255))
def test_characters_are_all_and_in_order(firsts: set[str], picks: int):
    # Two kinds of beginnings, of which one is chosen.
    kinds = {first: picks >> place & 1 for place, first in enumerate(sorted(firsts))}
    automaton = compile_regex("|".join(f"{re.escape(first)}{kind}" for first, kind in kinds.items()))
    steps = CharacterSteps(automaton)
    for chosen in (0, 1):
        expected = sorted(first.encode() for first, kind in kinds.items() if kind == chosen)
        targets = frozenset(automaton.run(first) for first in expected)
        assert list(steps.characters(0, targets)) == expected
    assert list(steps.characters(0, steps.destinations(0))) == sorted(first.encode() for first in firsts)
