from __future__ import annotations

import random
import re

import numpy as np
import pytest

from relens.language import nondeterministic
from relens.language.exclusion import excluded_strings
from relens.language.nondeterministic import NondeterministicAutomaton
from relens.query import Exclude, Limits
from tests.engine.language.patterns import QUERIES, STRINGS, SUPPORTED, matching_string, mutated

pytestmark = pytest.mark.filterwarnings("ignore:Possible:FutureWarning")

PATTERNS = [*QUERIES, *SUPPORTED[20:300:7], "[ab]*a[ab]{3}", ".*word.*"]


def automaton_of(pattern: str) -> NondeterministicAutomaton:
    automaton = excluded_strings(Exclude(regex=pattern), Limits())
    assert automaton is not None
    return automaton


@pytest.mark.parametrize("pattern", PATTERNS)
def test_agrees_with_fullmatch(pattern: str):
    automaton, oracle = automaton_of(pattern), re.compile(pattern)
    source = random.Random(pattern)
    matching = [text for _ in range(20) if (text := matching_string(pattern, source)) is not None]
    for text in {*STRINGS, *matching, *(mutated(text, source) for text in matching)}:
        if not any("\ud800" <= character <= "\udfff" for character in text):
            assert automaton.accepts(text) == automaton.accepts(text.encode()) == bool(oracle.fullmatch(text)), text


def test_a_language_of_two_to_the_sixty_states_is_only_followed(monkeypatch: pytest.MonkeyPatch):
    automaton, oracle = automaton_of("[ab]*a[ab]{60}"), re.compile("[ab]*a[ab]{60}")
    source = random.Random(0)
    texts = ["".join(source.choices("ab", k=source.randrange(50, 300))) for _ in range(50)]
    expected = [oracle.fullmatch(text) is not None for text in texts]
    assert 10 < sum(expected) < 40
    assert [automaton.accepts(text) for text in texts] == expected
    monkeypatch.setattr(nondeterministic, "_MOST_REMEMBERED", 1000)
    forgetful = automaton_of("[ab]*a[ab]{60}")
    assert [forgetful.accepts(text) for text in texts] == expected
    assert len(forgetful.sets._steps) < 200 < len(automaton.sets._steps)


def test_arcs_may_come_in_any_order():
    columns = ([2, 0, 1, 0], [97, 98, 97, 97], [99, 98, 255, 97], [2, 2, 1, 1])
    arrays = [np.array(column, np.int64) for column in columns]
    automaton = NondeterministicAutomaton(*arrays, final=np.array([False, False, True]))
    assert automaton.accepts("b")
    assert automaton.accepts("bac")
    assert not automaton.accepts("a")
    assert not automaton.accepts("bd")
    assert not automaton.accepts("\ud800")


def test_work_is_counted_once():
    sets = automaton_of("(ab|ac)*").sets
    assert sets.work == 0
    states = sets.step(sets.start, ord("a"))
    worked = sets.work
    assert worked > 0
    assert sets.step(sets.start, ord("a")) is states
    assert sets.work == worked
    assert not sets.step(states, ord("x"))
