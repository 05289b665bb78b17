"""The search against exhaustive enumeration of every path, on models and automata that are tables."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.errors import ModelError, QueryError
from relens.traversal.legal import Ending
from relens.traversal.search import TokenMatch
from relens.traversal.shortest_path import ShortestPathSearch
from tests.engine.traversal.tables import Driven, TableAutomaton, TableScorer
from tests.engine.traversal.truth import (
    END_OF_TEXT,
    VOCABULARY,
    automata,
    decodings,
    enumerate_matches,
    true_mass,
)

pytestmark = pytest.mark.heavy

ENDINGS = [Ending(), Ending("demanded", END_OF_TEXT), Ending("settling", END_OF_TEXT)]


def shortest_path(automaton: TableAutomaton, scorer: TableScorer, *, batch: int, **options: Any) -> Driven:
    return Driven(lambda view: ShortestPathSearch(automaton, view, **options), scorer, batch)


def run_all(search: Driven) -> tuple[list[TokenMatch], list[tuple[float, float]]]:
    matches, bounds = [], [(search.found_mass, search.found_mass + search.remaining_mass)]
    while not search.finished:
        matches += search.step()
        bounds.append((search.found_mass, search.found_mass + search.remaining_mass))
    return matches, bounds


@settings(max_examples=400, deadline=None)
@given(
    automaton=automata(),
    decoding=decodings,
    rank=st.sampled_from(["joint", "conditional"]),
    batch=st.sampled_from([1, 3, 64]),
    chunk=st.sampled_from([1, 2, 64]),
    ending=st.sampled_from(ENDINGS),
    seed=st.integers(0, 5),
    longest=st.integers(1, 5),
)
def test_search_equals_enumeration(automaton, decoding, rank, batch, chunk, ending, seed, longest):
    scorer = TableScorer(VOCABULARY, seed=seed)
    try:
        search = shortest_path(
            automaton,
            scorer,
            batch=batch,
            decoding=decoding,
            rank=rank,
            ending=ending,
            max_tokens=longest,
            first_chunk=chunk,
        )
    except QueryError:  # the prefix is longer than the longest match; see below
        return
    matches, bounds = run_all(search)
    truths = enumerate_matches(automaton, scorer, decoding, longest, ending)

    by_path = {truth.token_ids: truth for truth in truths}
    assert sorted(by_path) == sorted(match.token_ids for match in matches)
    previous = math.inf
    for match in matches:
        truth = by_path[match.token_ids]
        assert match.prefix_tokens == truth.prefix_tokens
        assert match.prefix_log_prob == pytest.approx(truth.prefix_log_prob, abs=1e-5)
        assert match.log_prob == pytest.approx(truth.log_prob, abs=1e-5)
        assert match.decoder_log_prob == pytest.approx(truth.decoder_log_prob, abs=1e-5)
        assert sum(match.token_log_probs) == pytest.approx(match.prefix_log_prob + match.log_prob, abs=1e-9)
        assert sum(match.token_decoder_log_probs) == pytest.approx(match.decoder_log_prob, abs=1e-9)
        assert len(match.token_log_probs) == len(match.token_ids) + truth.ended
        assert match.ended == truth.ended
        value = match.decoder_log_prob + (match.prefix_log_prob if rank == "joint" else 0.0)
        assert value <= previous + 1e-12
        previous = value

    mass = true_mass(truths, ending)
    for lower, upper in bounds:
        assert lower <= mass + 1e-6
        assert upper >= mass - 1e-6
    assert bounds[-1][0] == pytest.approx(mass, abs=1e-6)
    assert bounds[-1][1] == pytest.approx(mass, abs=1e-6)
    assert sum(match.weight for match in matches) == pytest.approx(mass, abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(automaton=automata(), decoding=decodings, limit=st.integers(1, 4), seed=st.integers(0, 3))
def test_first_matches_are_the_best_and_batches_do_not_change_them(automaton, decoding, limit, seed):
    def first(batch: int) -> list[TokenMatch]:
        search = shortest_path(
            automaton, TableScorer(VOCABULARY, seed=seed), batch=batch, decoding=decoding, max_tokens=5
        )
        matches: list[TokenMatch] = []
        while not search.finished and len(matches) < limit:
            matches += search.step(limit - len(matches))
        return matches

    try:
        single = first(1)
    except QueryError:
        return
    assert len(single) <= limit
    rank = [match.prefix_log_prob + match.decoder_log_prob for match in single]
    for batch in (2, 5, 64):
        assert [match.prefix_log_prob + match.decoder_log_prob for match in first(batch)] == pytest.approx(rank)


def test_speculation_wastes_a_fraction():
    """From a wide automaton, the first ten matches: nodes opened by batches against nodes opened one at a time."""
    width = 40
    table = {0: dict.fromkeys(range(width), 1), 1: dict.fromkeys(range(width), 2), 2: {0: 3, 1: 3}, 3: {}}
    automaton = TableAutomaton(table, {3})

    def opened(batch: int) -> int:
        search = shortest_path(automaton, TableScorer(width), batch=batch)
        count = 0
        while count < 10:
            count += len(search.step(10 - count))
        return search.expansions

    assert opened(64) <= 1.5 * opened(1) + 1


def test_forced_chain_is_one_forward():
    table = {state: {state: state + 1} for state in range(5)} | {5: {0: 6, 1: 6}, 6: {}}
    scorer = TableScorer(VOCABULARY)
    search = shortest_path(TableAutomaton(table, {6}), scorer, batch=8)
    run_all(search)
    assert len(scorer.calls) == 1
    assert len(scorer.calls[0]) == 6


def test_literal_prefix_is_given_and_its_mass_is_not_counted():
    table = {0: {0: 1}, 1: {1: 2}, 2: {2: 3, 3: 3}, 3: {}}
    scorer = TableScorer(VOCABULARY)
    search = shortest_path(TableAutomaton(table, {3}, {0, 1, 2}), scorer, batch=1)
    matches, _ = run_all(search)
    assert not search.mass_is_joint
    row = scorer.row([0, 1]).exp()
    assert search.found_mass == pytest.approx(float(row[2] + row[3]), abs=1e-6)
    assert all(match.prefix_tokens == 2 for match in matches)


def test_final_state_without_arcs_costs_no_forward():
    scorer = TableScorer(VOCABULARY)
    search = shortest_path(TableAutomaton({0: {0: 1, 1: 1}, 1: {}}, {1}), scorer, batch=8)
    matches, _ = run_all(search)
    assert len(matches) == 2
    assert scorer.calls == [[0]]


def test_without_begin_of_text_the_first_token_must_be_given():
    open_start = TableAutomaton({0: {0: 1, 1: 1}, 1: {}}, {1})
    with pytest.raises(QueryError, match="begin-of-text"):
        shortest_path(open_start, TableScorer(VOCABULARY, scores_root=False), batch=1)
    two_prefixes = TableAutomaton({0: {0: 1, 1: 1}, 1: {2: 2}, 2: {}}, {2}, {0, 1})
    with pytest.raises(QueryError, match="2 tokens"):
        shortest_path(two_prefixes, TableScorer(VOCABULARY, scores_root=False), batch=1)
    literal = TableAutomaton({0: {4: 1}, 1: {2: 2, 3: 2}, 2: {}}, {2}, {0, 1})
    scorer = TableScorer(VOCABULARY, scores_root=False)
    matches, _ = run_all(shortest_path(literal, scorer, batch=1))
    assert matches[0].prefix_log_prob == 0.0
    assert sorted(match.token_ids for match in matches) == [(4, 2), (4, 3)]


def test_prefix_longer_than_allowed_is_refused():
    table = {state: {0: state + 1} for state in range(6)} | {6: {1: 7}, 7: {}}
    automaton = TableAutomaton(table, {7}, set(range(7)))
    with pytest.raises(QueryError, match="more than 4 tokens"):
        shortest_path(automaton, TableScorer(VOCABULARY), batch=1, max_tokens=4)
    with pytest.raises(QueryError, match="more than 5 tokens"):
        shortest_path(automaton, TableScorer(VOCABULARY, context_length=5), batch=1, max_tokens=40)


def test_tokens_the_model_does_not_score_are_left_out():
    automaton = TableAutomaton({0: {1: 1, VOCABULARY + 3: 1}, 1: {}}, {1})
    matches, _ = run_all(shortest_path(automaton, TableScorer(VOCABULARY), batch=1))
    assert [match.token_ids for match in matches] == [(1,)]


def test_everything_closed_is_released():
    scorer = TableScorer(VOCABULARY)
    table = {0: {0: 1, 1: 1}, 1: {2: 2, 3: 2}, 2: {4: 3, 5: 3}, 3: {}}
    run_all(shortest_path(TableAutomaton(table, {3}), scorer, batch=2))
    scored = {node for call in scorer.calls for node in call}
    assert set(scorer.released) == scored - {0}  # the root is everybody's


def test_a_tolerance_ends_the_search_when_little_is_left():
    table = {0: {0: 0, 1: 0, 2: 1}, 1: {}}
    automaton = TableAutomaton(table, {1})
    whole = shortest_path(automaton, TableScorer(VOCABULARY), batch=1, max_tokens=7)
    mass = sum(match.weight for match in whole.run())
    for tolerance in (0.5, 0.1, 0.01):
        search = shortest_path(automaton, TableScorer(VOCABULARY), batch=1, max_tokens=7, tolerance=tolerance)
        matches = search.run()
        assert search.ended == "tolerance"
        assert search.expansions < whole.expansions
        assert sum(match.weight for match in matches) >= mass / (1 + tolerance) - 1e-9


def test_an_end_that_cannot_be_settled_is_an_error():
    automaton = TableAutomaton({0: {0: 1}, 1: {0: 1}}, {1})
    with pytest.raises(ModelError, match="no end-of-text token"):
        shortest_path(automaton, TableScorer(VOCABULARY), batch=1, ending=Ending("settling", None)).run()
