"""The textbook's constructions against Python's own `re` and against the engine's automata."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from relens.errors import LimitError
from relens.language.alphabet import alphabet_ranges
from relens.language.characters import normalise
from relens.language.compile import compile_language, compile_regex
from relens.language.syntax import parse_regex
from relens.learn.automata import SILENT, Arc, CharacterAutomaton, character_classes, contains
from relens.learn.minimisation import NOWHERE, minimised
from relens.learn.one_edit import arcs_of_originals, with_one_edit
from relens.learn.subset import determinized, is_deterministic
from relens.learn.thompson import MOST_POSITIONS, positions, thompson
from relens.query import Edits, Limits, Query
from tests.engine.language.patterns import STRINGS, SUPPORTED, matching_string, mutated, patterns
from tests.engine.learn.languages import PATTERNS, is_same_automaton

SMALL = [pattern for pattern in SUPPORTED if positions(parse_regex(pattern)) <= MOST_POSITIONS]


def texts_for(pattern: str, seed: int = 0) -> list[str]:
    """Strings for a pattern: some match, some nearly match, some are of all kinds."""
    source = random.Random(seed)
    texts = source.sample(STRINGS, 25)
    for _ in range(12):
        text = matching_string(pattern, source)
        if text is not None:
            texts += [text, mutated(text, source)]
    return [text for text in texts if not any(0xD800 <= ord(character) <= 0xDFFF for character in text)]


def disagreements(automaton: CharacterAutomaton, pattern: str, texts: list[str]) -> list[str]:
    compiled = re.compile(pattern)
    return [text for text in texts if automaton.accepts(text) != bool(compiled.fullmatch(text))]


def all_three(pattern: str) -> list[CharacterAutomaton]:
    first = thompson(parse_regex(pattern))
    second = determinized(first).automaton
    return [first, second, minimised(second).automaton]


@pytest.mark.parametrize("pattern", SMALL)
def test_every_supported_pattern_means_the_same_in_re(pattern):
    texts = texts_for(pattern)
    for automaton in all_three(pattern):
        assert disagreements(automaton, pattern, texts) == []


@settings(max_examples=60)
@given(patterns, st.integers(0, 2**30))
def test_all_three_automata_agree_with_re_on_generated_patterns(pattern, seed):
    assume(positions(parse_regex(pattern)) <= MOST_POSITIONS)
    texts = texts_for(pattern, seed)
    for automaton in all_three(pattern):
        assert disagreements(automaton, pattern, texts) == []


@settings(max_examples=60)
@given(patterns)
def test_the_minimal_automaton_is_the_engines(pattern):
    assume(positions(parse_regex(pattern)) <= MOST_POSITIONS)
    try:
        smallest = all_three(pattern)[-1]
    except LimitError:
        assume(False)
    in_bytes = compile_regex(pattern)
    assume(not in_bytes.is_empty)
    assert is_same_automaton(smallest, in_bytes)


@pytest.mark.parametrize("pattern", [*PATTERNS, "[^a]", ".", r"\w\d?"])
def test_the_minimal_automaton_of_a_lesson_is_the_engines(pattern):
    smallest = all_three(pattern)[-1]
    assert is_same_automaton(smallest, compile_regex(pattern))
    # The comparison can fail: with one more final state it is another automaton.
    others = frozenset(range(smallest.states)) ^ smallest.finals
    changed = CharacterAutomaton(smallest.states, others, smallest.arcs)
    assert not is_same_automaton(changed, compile_regex(pattern))


class TestThompson:
    def test_every_part_has_one_way_in_and_one_way_out(self):
        for pattern in SMALL:
            automaton = thompson(parse_regex(pattern))
            (end,) = automaton.finals
            assert not automaton.leaving[end]
            assert all(arc.target != 0 for arc in automaton.arcs) or automaton.states == 1

    def test_the_example_of_the_module(self):
        automaton = thompson(parse_regex("ab|c|d"))
        assert [(arc.source, arc.target) for arc in automaton.arcs if arc.characters == SILENT] == [
            (0, 1), (0, 4), (0, 6), (3, 8), (5, 8), (7, 8)
        ]  # fmt: skip

    @pytest.mark.parametrize(("pattern", "size"), [("a{3,5}", 5), ("(ab){2,}", 4), ("(){7}", 7), ("a|b|", 3), ("", 1)])
    def test_positions_are_counted_with_counts_written_out(self, pattern, size):
        assert positions(parse_regex(pattern)) == size

    @pytest.mark.parametrize("pattern", ["a{61}", "((a{99999}){99999}){99999}", "(" * 60 + "a" + "{4000000})" * 60])
    def test_a_large_expression_is_refused_before_it_is_built(self, pattern):
        with pytest.raises(LimitError, match="a lesson shows at most 60") as raised:
            thompson(parse_regex(pattern))
        assert raised.value.limit == "lesson_positions"


class TestSubset:
    def test_each_state_stands_for_all_states_after_a_text(self):
        for pattern in PATTERNS:
            first = thompson(parse_regex(pattern))
            subsets = determinized(first)
            assert is_deterministic(subsets.automaton)
            assert not is_deterministic(with_one_edit(subsets.automaton, ((97, 122),)))
            for text in texts_for(pattern):
                states, state = first.closure([0]), {0}
                for character in text:
                    states, state = first.step(states, character), subsets.automaton.step(state, character)
                assert bool(states) == bool(state)
                for only in state:
                    assert subsets.members[only] == tuple(sorted(states))

    def test_exponential_growth_ends_in_a_sentence(self):
        with pytest.raises(LimitError, match="more than 300 states") as raised:
            determinized(thompson(parse_regex("[ab]*a[ab]{20}")))
        assert raised.value.limit == "lesson_states"
        assert all_three("[ab]*a[ab]{7}")[-1].states == 256


class TestMinimisation:
    def test_rounds_only_ever_split_and_end_in_the_states_of_the_minimal_automaton(self):
        for pattern in PATTERNS:
            minimal = minimised(determinized(thompson(parse_regex(pattern))).automaton)
            for before, after in pairwise(minimal.rounds):
                assert len(set(zip(before, after, strict=True))) == len(set(after)) > len(set(before))
            assert len(set(minimal.rounds[-1]) - {NOWHERE}) == minimal.automaton.states == len(minimal.merged)

    def test_a_state_without_a_way_to_a_match_is_gone(self):
        a, b = ((97, 97),), ((98, 98),)
        automaton = CharacterAutomaton(3, frozenset([1]), (Arc(0, 1, a), Arc(0, 2, b), Arc(2, 2, a)))
        minimal = minimised(automaton)
        assert (minimal.automaton.states, minimal.merged, minimal.rounds[-1][2]) == (2, ((0,), (1,)), NOWHERE)

    def test_an_empty_language_is_one_state(self):
        assert minimised(CharacterAutomaton(2, frozenset(), (Arc(0, 1, ((97, 97),)),))).automaton.arcs == ()


class TestOneEdit:
    @pytest.mark.parametrize("pattern", ["cat", "The ((cat)|(dog))", "(ab)*", "é|x", "a?"])
    def test_within_one_edit_is_the_engines_automaton(self, pattern):
        alphabet = alphabet_ranges(Edits(1), Limits())
        original = all_three(pattern)[-1]
        edited = minimised(determinized(with_one_edit(original, alphabet)).automaton).automaton
        engines = compile_language(Query(pattern, edits=Edits(1))).pattern
        assert is_same_automaton(edited, engines)

    def test_the_original_strings_go_along_the_plain_arcs(self):
        original = all_three("ab|ac")[-1]
        edited = minimised(determinized(with_one_edit(original, ((97, 122),))).automaton).automaton
        walked = set()
        for text in ("ab", "ac"):
            state = 0
            for character in text:
                (ahead,) = edited.step([state], character)
                walked.add((state, ahead))
                state = ahead
        assert arcs_of_originals(edited, original) == walked


ranges = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 40)), min_size=1, max_size=4).map(
    lambda pairs: normalise((low, low + width) for low, width in pairs)
)


@given(st.lists(ranges, max_size=5))
def test_classes_are_disjoint_and_no_label_cuts_one(labels):
    def members(characters):
        return {code for low, high in characters for code in range(low, high + 1)}

    classes = character_classes(labels)
    assert sum(len(members(part)) for part in classes) == len(set().union(*map(members, labels)))
    for label in labels:
        for part in classes:
            assert contains(label, part) == (members(part) <= members(label)) == bool(members(part) & members(label))
    kinds = [tuple(contains(label, part) for label in labels) for part in classes]
    assert len(set(kinds)) == len(kinds)
