"""All encodings against enumeration by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.errors import LimitError, NoEncodingError
from relens.language.automaton import ByteAutomaton
from relens.tokens import trie_walk
from relens.tokens.encodings import EncodingsAutomaton, LazyEncodingsAutomaton, all_encodings
from relens.tokens.laws import assert_laws, paths
from relens.tokens.tokenizer import Tokenizer
from relens.tokens.trie_walk import estimate_arcs, walk
from relens.tokens.vocabulary import Vocabulary
from tests.engine.tokens.helpers import FINITE, OPEN, language, segmentations, strings

PATTERNS = ["a", "ab|cd", "(a|b){0,4}", "a+b*", "(ab|ba|c)*", "é|日", "[a-d]{2}[é日]", ""]
vocabularies = st.lists(
    st.none()
    | st.sampled_from([*"abcdé日", "ab", "ba", "abc", "cc", "aa", "é日"]).map(str.encode)
    | st.binary(max_size=3),
    min_size=1,
    max_size=25,
).map(Vocabulary)


def brute_arcs(automaton: ByteAutomaton, vocabulary: Vocabulary) -> list[list[tuple[int, int]]]:
    return [
        [
            (token, automaton.run(item, state))
            for token, item in enumerate(vocabulary.token_bytes)
            if item and automaton.run(item, state) >= 0
        ]
        for state in range(automaton.states)
    ]


def rows(arcs: trie_walk.TokenArcs) -> list[list[tuple[int, int]]]:
    return [
        list(zip(arcs.tokens[low:high].tolist(), arcs.destinations[low:high].tolist(), strict=True))
        for low, high in zip(arcs.first_arc[:-1], arcs.first_arc[1:], strict=True)
    ]


@given(vocabularies, st.sampled_from(PATTERNS), st.sampled_from([0.0, 0.15, 2.0]))
@settings(deadline=None, max_examples=300)
def test_both_walks_find_every_arc(vocabulary: Vocabulary, pattern: str, share: float) -> None:
    automaton = language(pattern)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trie_walk, "LEVELS_SHARE", share)  # all by levels, mixed, all by pairs
        arcs = walk(automaton.transitions, vocabulary.trie)
    assert rows(arcs) == brute_arcs(automaton, vocabulary)
    assert len(arcs.tokens) <= estimate_arcs(automaton, vocabulary.trie)


@given(vocabularies, st.sampled_from(PATTERNS))
@settings(deadline=None, max_examples=300)
def test_accepts_every_segmentation_and_nothing_else(vocabulary: Vocabulary, pattern: str) -> None:
    automaton = language(pattern)
    try:
        tokens = all_encodings(automaton, vocabulary, 10**6)
    except NoEncodingError:
        if "*" not in pattern and "+" not in pattern:
            assert not any(segmentations(vocabulary.token_bytes, data) for data in strings(automaton))
        return
    assert_laws(tokens)
    if "*" in pattern or "+" in pattern:
        return
    sequences = paths(tokens)
    expected = [path for data in strings(automaton) for path in segmentations(vocabulary.token_bytes, data)]
    assert sorted(sequences) == sorted(expected)


@pytest.mark.parametrize("name", ["literal", "the", "lines"])
def test_real_vocabularies(real: Tokenizer, name: str) -> None:
    automaton = language(FINITE[name])
    tokens = all_encodings(automaton, real.vocabulary, 10**6)
    assert_laws(tokens)
    sequences = paths(tokens)
    expected = [path for data in strings(automaton) for path in segmentations(real.vocabulary.token_bytes, data)]
    assert len(sequences) == len(set(sequences))
    assert set(sequences) == set(expected)


@pytest.mark.parametrize("pattern", OPEN.values())
def test_lazy_is_the_same(real: Tokenizer, pattern: str) -> None:
    automaton = language(pattern)
    known = all_encodings(automaton, real.vocabulary, 10**6)
    lazy = all_encodings(automaton, real.vocabulary, 1)
    assert isinstance(known, EncodingsAutomaton)
    assert isinstance(lazy, LazyEncodingsAutomaton)
    assert known.arc_count == sum(len(known.arcs(state).tokens) for state in range(automaton.states))
    assert lazy.states is None
    assert lazy.arc_count is None
    assert_laws(lazy)
    for state in range(automaton.states):
        assert np.array_equal(known.arcs(state).tokens, lazy.arcs(state).tokens)
        assert np.array_equal(known.destinations(state), lazy.destinations(state))


def test_prefix_marks_follow_the_state_reached(small: Tokenizer) -> None:
    automaton = language("The (cat|dog)")
    marked = ByteAutomaton(automaton.transitions, automaton.final, np.arange(automaton.states) < 5)
    tokens = all_encodings(marked, small.vocabulary, 10**6)
    assert isinstance(tokens, EncodingsAutomaton)
    for state in range(automaton.states):
        assert np.array_equal(tokens.arcs(state).in_prefix, tokens.destinations(state) < 5)


def test_missing_bytes_leave_no_dead_end() -> None:
    vocabulary = Vocabulary([b"a", b"b", b"ab", b"xy"])  # x and y only together
    tokens = all_encodings(language("a(x|y|xy|b)"), vocabulary, 100)
    assert_laws(tokens)
    assert sorted(paths(tokens)) == [(0, 1), (0, 3), (2,)]
    assert tokens.states == 3
    with pytest.raises(NoEncodingError):
        all_encodings(language("ax"), vocabulary, 100)
    with pytest.raises(LimitError) as refused:
        all_encodings(language("a(xyz|b)"), vocabulary, 1)
    assert refused.value.limit == "token_arcs"


def test_two_ids_with_the_same_bytes_are_both_legal() -> None:
    tokens = all_encodings(language("ab"), Vocabulary([b"ab", None, b"ab", b"a", b"b"]), 100)
    assert sorted(paths(tokens)) == [(0,), (2,), (3, 4)]
