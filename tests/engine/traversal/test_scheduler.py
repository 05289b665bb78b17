"""Searches side by side have the same matches as alone, in few forwards, and hold up no other."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.errors import QueryError
from relens.query import Decoding
from relens.traversal.legal import Ending
from relens.traversal.sampling import SamplingSearch
from relens.traversal.scheduler import Scheduler
from relens.traversal.search import TokenMatch
from relens.traversal.shortest_path import ShortestPathSearch
from tests.engine.traversal.tables import FixedBatch, TableAutomaton, TableScorer
from tests.engine.traversal.truth import END_OF_TEXT, VOCABULARY, automata, decodings

SETTLING = Ending("settling", END_OF_TEXT)


def beginning(automaton, decoding, number):
    if number % 2:
        return lambda view: SamplingSearch(
            automaton, view, 50, seed=(number,), ending=SETTLING, decoding=decoding, max_tokens=4
        )
    return lambda view: ShortestPathSearch(automaton, view, ending=SETTLING, decoding=decoding, max_tokens=4)


def run(beginnings, scorer, batch):
    scheduler = Scheduler(enumerate(beginnings), scorer, FixedBatch(batch))
    matches_of: dict[int, list[TokenMatch]] = {number: [] for number in range(len(beginnings))}
    refused, ended = dict(scheduler.take_refused()), {}
    while not scheduler.finished:
        matches, finished, cannot = scheduler.step(lambda _: None)
        for number, match in matches:
            matches_of[number].append(match)
        refused |= dict(cannot)
        ended |= dict(finished)
    assert set(refused) | set(ended) == set(matches_of)
    return matches_of, refused


@settings(max_examples=100)
@given(
    cases=st.lists(st.tuples(automata(), decodings), min_size=1, max_size=6),
    batch=st.sampled_from([1, 4, 64]),
    seed=st.integers(0, 3),
)
def test_side_by_side_is_as_alone(cases, batch, seed):
    beginnings = [beginning(*case, number) for number, case in enumerate(cases)]
    together, refused = run(beginnings, TableScorer(VOCABULARY, seed=seed), batch)
    for number, begin in enumerate(beginnings):
        alone, alone_refused = run([begin], TableScorer(VOCABULARY, seed=seed), 1)
        assert (number in refused) == bool(alone_refused)
        # The same matches with the same scores; a search in order of rank in the same order, ties aside.
        assert sorted(together[number], key=lambda match: match.token_ids) == sorted(
            alone[0], key=lambda match: match.token_ids
        )
        if not number % 2:
            ranks = [match.prefix_log_prob + match.decoder_log_prob for match in together[number]]
            assert ranks == sorted(ranks, reverse=True)


TWO_STEPS = TableAutomaton({0: {0: 1, 1: 1}, 1: {2: 2, 3: 2}, 2: {}}, {2})


def test_searches_share_forwards_and_nodes():
    scorer = TableScorer(VOCABULARY)
    beginnings = [lambda view: ShortestPathSearch(TWO_STEPS, view) for _ in range(10)]
    run(beginnings, scorer, 64)
    # Ten searches for the same thing: three nodes, and as many forwards as one of them alone has.
    assert {node for call in scorer.calls for node in call} == {0, 1, 2}
    assert len(scorer.calls) == 3
    assert set(scorer.released) == {1, 2}


def test_every_forward_is_filled_and_everybody_served():
    scorer = TableScorer(VOCABULARY, seed=2)
    different = [
        TableAutomaton({0: {first: 1}, 1: {0: 2, 1: 2}, 2: {2: 3, 3: 3}, 3: {}}, {3}, {0, 1}) for first in range(6)
    ]
    beginnings = [lambda view, automaton=automaton: ShortestPathSearch(automaton, view) for automaton in different]
    scheduler = Scheduler(enumerate(beginnings), scorer, FixedBatch(4))
    served: list[int] = []
    while not scheduler.finished:
        served += [number for number, _ in scheduler.step(lambda _: None).matches if number not in served]
    assert set(served) == set(range(6))
    # The root is the same for all; the prefix needs two nodes at once.
    assert max(map(len, scorer.calls)) <= 5
    assert len(scorer.calls) <= 12


def test_a_limit_of_matches_ends_a_search_and_releases_its_nodes():
    scorer = TableScorer(VOCABULARY)
    scheduler = Scheduler([("a", lambda view: ShortestPathSearch(TWO_STEPS, view))], scorer, FixedBatch(8))
    matches: list[tuple[str, TokenMatch]] = []
    while not scheduler.finished and len(matches) < 2:
        left = 2 - len(matches)
        matches += scheduler.step({"a": left}.get).matches
    assert len(matches) == 2
    scheduler.drop("a")
    assert scheduler.finished
    assert scheduler.searches("a") == []
    scored = {node for call in scorer.calls for node in call} - {0}
    assert set(scorer.released) == scored


def test_dropping_a_key_drops_searches_that_have_not_begun():
    scorer = TableScorer(VOCABULARY)
    begun = []

    def begin(key):
        def search(view):
            begun.append(key)
            return ShortestPathSearch(TWO_STEPS, view)

        return search

    keys = ["a", "b", "b", "c"]
    scheduler = Scheduler([(key, begin(key)) for key in keys], scorer, FixedBatch(1))
    assert begun == ["a"]
    scheduler.drop("b")
    while not scheduler.finished:
        scheduler.step(lambda _: None)
    assert begun == ["a", "c"]


def test_a_search_that_cannot_begin_holds_up_no_other():
    long_prefix = TableAutomaton({state: {0: state + 1} for state in range(6)} | {6: {}}, {6}, set(range(7)))
    beginnings = [
        lambda view: ShortestPathSearch(long_prefix, view, max_tokens=2),
        lambda view: ShortestPathSearch(TWO_STEPS, view),
    ]
    matches_of, refused = run(beginnings, TableScorer(VOCABULARY), 8)
    assert isinstance(refused[0], QueryError)
    assert len(matches_of[1]) == 4


@pytest.mark.parametrize("batch", [1, 64])
def test_searches_with_different_rules_keep_their_own(batch):
    beginnings = [
        lambda view, decoding=decoding, rank=rank: ShortestPathSearch(TWO_STEPS, view, decoding=decoding, rank=rank)
        for decoding in (Decoding(), Decoding(top_k=3), Decoding(temperature=0.5))
        for rank in ("joint", "conditional")
    ]
    together, _ = run(beginnings, TableScorer(VOCABULARY, seed=1), batch)
    for number, begin in enumerate(beginnings):
        alone, _ = run([begin], TableScorer(VOCABULARY, seed=1), 1)
        assert together[number] == alone[0]
