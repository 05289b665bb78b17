from __future__ import annotations

import itertools
import random
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from relens.errors import LimitError, QueryError
from relens.language import walks
from relens.language.automaton import ByteAutomaton
from relens.language.compile import compile_language, compile_regex
from relens.language.counting import count_strings, count_strings_up_to
from relens.language.walks import Walks, edge_strings, uniform_strings
from relens.query import Edits, Query

_ab_patterns = st.recursive(
    st.sampled_from(["a", "b", "[ab]", "é", ""]),
    lambda inner: st.one_of(
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}){}".format, inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}"])),
    ),
    max_leaves=6,
)


def byte_walks(automaton: ByteAutomaton, longest: int | None) -> Walks:
    sources, labels = np.nonzero(automaton.transitions >= 0)
    return Walks(sources, labels, automaton.transitions[sources, labels], automaton.final, longest)


def fits(drawn: list[str], expected: dict[str, float]) -> bool:
    """Whether a chi-squared test accepts the draws, and nothing else was drawn."""
    counts = Counter(drawn)
    assert set(counts) <= set(expected)
    observed = [counts[text] for text in expected]
    return stats.chisquare(observed, np.array(list(expected.values())) * len(drawn)).pvalue > 0.001


def edge_probabilities(automaton: ByteAutomaton, longest: int) -> dict[str, float]:
    """The probability of each string under equally likely edges, given that it is short enough."""
    probabilities: dict[str, float] = {}
    level = [(0, b"", 1.0)]
    for _ in range(longest + 1):
        following = []
        for state, text, probability in level:
            arcs = [(byte, target) for byte, target in enumerate(automaton.transitions[state]) if target >= 0]
            each = probability / (len(arcs) + automaton.final[state])
            if automaton.final[state]:
                probabilities[text.decode()] = each
            following += [(target, text + bytes([byte]), each) for byte, target in arcs]
        level = following
    return {text: probability / sum(probabilities.values()) for text, probability in probabilities.items()}


@settings(max_examples=100)
@given(pattern=_ab_patterns, longest=st.integers(0, 6))
def test_every_walk_has_a_number(pattern: str, longest: int):
    automaton = compile_regex(pattern)
    letters = itertools.chain.from_iterable(itertools.product("abé", repeat=length) for length in range(longest + 1))
    texts = [text for text in map("".join, letters) if len(text.encode()) <= longest and re.fullmatch(pattern, text)]
    table = byte_walks(automaton, longest)
    assert table.count == len(texts) == count_strings_up_to(automaton, longest)
    assert sorted(bytes(table.walk(number)).decode() for number in range(table.count)) == sorted(texts)
    total = count_strings(automaton)
    if total is not None and total < 500:
        everything = byte_walks(automaton, None)
        assert everything.count == total
        assert len({bytes(everything.walk(number)) for number in range(total)}) == total


def test_parallel_arcs_and_another_start():
    # 2 ==5,7==> 0 --6--> 1, with the arcs out of order.
    table = Walks(
        np.array([2, 0, 2]), np.array([7, 6, 5]), np.array([0, 1, 0]), np.array([False, True, False]), 9, start=2
    )
    assert table.count == 2
    assert sorted(map(table.walk, range(2))) == [[5, 6], [7, 6]]
    with pytest.raises(IndexError):
        table.walk(2)


def test_two_arcs_with_one_label_are_two_walks():
    table = Walks(np.array([0, 0]), np.array([5, 5]), np.array([1, 2]), np.array([False, True, True]), 1)
    assert table.count == 2


def test_no_walk_at_all():
    empty = np.zeros(0, np.int64)
    nothing = Walks(empty, empty, empty, np.array([False]), 5)
    assert nothing.count == 0
    with pytest.raises(QueryError):
        nothing.draw(random.Random(0))
    assert Walks(empty, empty, empty, np.array([True]), 0).draw(random.Random(0)) == []
    with pytest.raises(ValueError):
        byte_walks(compile_regex("a*"), None)


def test_exact_beyond_any_float():
    table = byte_walks(compile_regex("[ab]*"), 3000)
    assert table.count == 2**3001 - 1
    assert len(table.draw(random.Random(0))) > 2900
    chain = byte_walks(compile_regex("[ab]{3000}c?"), None)
    assert chain.count == 2**3001


def test_too_large_a_table_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(walks, "MOST_ENTRIES", 1_000)
    with pytest.raises(LimitError, match="table"):
        uniform_strings(compile_regex("(?:abcdefgh)*"), 1, random.Random(0), 256)
    # Far states need no entries.
    assert uniform_strings(compile_regex("x*|a{100}"), 1, random.Random(0), 10)


@pytest.mark.parametrize(
    "pattern", ["a|b{1,3}", "(January|May|March) [0-3]", "[a-c]{0,3}é?", "(aa|b)*c|[xy]{2}", "a*b*"]
)
def test_draws_are_uniform_over_strings(pattern: str):
    automaton = compile_regex(pattern)
    strings = edge_probabilities(automaton, longest=14 if count_strings(automaton) else 5)
    assert len(strings) == (count_strings(automaton) or count_strings_up_to(automaton, 5))
    drawn = uniform_strings(automaton, 4000, random.Random(1), 5)
    assert fits(drawn, dict.fromkeys(strings, 1 / len(strings)))


@pytest.mark.parametrize(
    "pattern", ["a|b{1,3}", "(January|May|March) [0-3]", "[a-c]{0,3}é?", "(aa|b)*c|[xy]{2}", "a*b*"]
)
def test_draws_by_edges_have_their_own_distribution(pattern: str):
    automaton = compile_regex(pattern)
    expected = edge_probabilities(automaton, longest=14 if count_strings(automaton) else 5)
    assert fits(edge_strings(automaton, 4000, random.Random(2), 5), expected)


def test_by_strings_and_by_edges():
    automaton = compile_regex("a|b{1,3}")
    assert edge_probabilities(automaton, 3) == {"a": 1 / 2, "b": 1 / 4, "bb": 1 / 8, "bbb": 1 / 8}
    drawn = uniform_strings(automaton, 4000, random.Random(3), 256)
    assert fits(drawn, dict.fromkeys(["a", "b", "bb", "bbb"], 1 / 4))
    assert not fits(edge_strings(automaton, 4000, random.Random(3), 256), dict.fromkeys(["a", "b", "bb", "bbb"], 1 / 4))


def test_edges_crowd_edits_to_the_front():
    query = Query(prefix="The ((man)|(woman)) was trained in ", pattern="art", edits=Edits(1, "prefix"))
    automaton = compile_language(query).prefix
    unedited = ["The man was trained in ", "The woman was trained in "]

    def share_in_front(drawn: list[str]) -> float:
        def kept(text: str) -> int:
            return max(
                next((place for place, pair in enumerate(zip(text, whole, strict=False)) if len(set(pair)) > 1), 99)
                for whole in unedited
            )

        return sum(kept(text) < 6 for text in drawn) / len(drawn)

    by_strings = share_in_front(uniform_strings(automaton, 2000, random.Random(4), 256))
    assert 0.15 < by_strings < 0.35
    assert share_in_front(edge_strings(automaton, 500, random.Random(4), 256)) > 0.95


def test_a_finite_language_is_drawn_from_whole():
    long = compile_regex("[ab]{40}")
    for draw in (uniform_strings, edge_strings):
        assert all(len(text) == 40 for text in draw(long, 5, random.Random(0), 10))


@pytest.mark.parametrize("draw", [uniform_strings, edge_strings])
def test_nothing_to_draw(draw):
    with pytest.raises(QueryError, match="no strings"):
        draw(compile_regex(r"[^\s\S]"), 1, random.Random(0), 10)
    with pytest.raises(QueryError, match="at most 10 bytes"):
        draw(compile_regex("[ab]{40}c*"), 1, random.Random(0), 10)


def test_walks_that_hardly_ever_end_are_given_up():
    with pytest.raises(QueryError, match="by strings"):
        edge_strings(compile_regex("a|[b-z]{300}[ab]*"), 1000, random.Random(0), 10)
    assert set(uniform_strings(compile_regex("a|[b-z]{300}[ab]*"), 9, random.Random(0), 10)) == {"a"}


def test_the_same_seed_draws_the_same_strings():
    automaton = compile_regex("[a-z]+é")
    for draw in (uniform_strings, edge_strings):
        assert draw(automaton, 20, random.Random(7), 200) == draw(automaton, 20, random.Random(7), 200)
