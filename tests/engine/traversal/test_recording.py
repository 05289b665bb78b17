"""A recorded search against the plain one and against enumeration, on tables."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.errors import QueryError
from relens.query import Decoding
from relens.traversal.legal import Ending
from relens.traversal.recording import Recorder, Round
from relens.traversal.shortest_path import ShortestPathSearch
from tests.engine.traversal.tables import Driven, TableAutomaton, TableScorer
from tests.engine.traversal.truth import END_OF_TEXT, VOCABULARY, automata, decodings, enumerate_matches, kept_by_rule

ENDINGS = [Ending(), Ending("demanded", END_OF_TEXT)]


def recorded(automaton: TableAutomaton, scorer: TableScorer, batch: int, **options) -> list[Round]:
    recorder = Recorder(ShortestPathSearch(automaton, scorer, **options), batch)
    rounds = [recorder.begin()]
    while not recorder.finished:
        rounds.append(recorder.step())
    return rounds


@settings(max_examples=150, deadline=None)
@given(
    automaton=automata(),
    decoding=decodings,
    rank=st.sampled_from(["joint", "conditional"]),
    batch=st.sampled_from([1, 3, 64]),
    chunk=st.sampled_from([1, 64]),
    ending=st.sampled_from(ENDINGS),
    seed=st.integers(0, 5),
    longest=st.integers(1, 4),
)
def test_the_record_is_the_search_and_true(automaton, decoding, rank, batch, chunk, ending, seed, longest):
    options = {"decoding": decoding, "rank": rank, "ending": ending, "max_tokens": longest, "first_chunk": chunk}
    plain_scorer, scorer = TableScorer(VOCABULARY, seed=seed), TableScorer(VOCABULARY, seed=seed)
    try:
        plain = Driven(lambda view: ShortestPathSearch(automaton, view, **options), plain_scorer, batch)
    except QueryError:
        return
    rounds = recorded(automaton, scorer, batch, **options)

    # Recording changes nothing: the same matches in the same order, from the same number of expansions.
    emitted = [item for entry in rounds for item in entry.emitted]
    assert [item.match for item in emitted] == plain.run()
    assert rounds[-1].account.expansions == plain.expansions
    assert [len(call) for call in scorer.calls] == [len(entry.expansions) for entry in rounds if entry.expansions]

    # No match is emitted while something cheaper is open, and none of lower cost comes later.
    for entry in rounds:
        open_costs = [item.cost for item in entry.frontier]
        assert open_costs == sorted(open_costs)
        assert len(open_costs) == min(200, entry.account.frontier)
        for item in entry.emitted:
            assert all(item.cost <= cost for cost in open_costs)
            assert item.state == _state(automaton, scorer.tree.path(item.node), item.match.ended)
    assert [item.cost for item in emitted] == sorted(item.cost for item in emitted)

    # Costs are those of enumeration.
    costs = {
        (truth.token_ids, truth.ended): -(truth.decoder_log_prob + (truth.prefix_log_prob if rank == "joint" else 0))
        for truth in enumerate_matches(automaton, scorer, decoding, longest, ending)
    }
    for item in emitted:
        assert item.cost == pytest.approx(costs[item.match.token_ids, item.match.ended], abs=1e-5)

    # The cut tokens are those that the rule, applied the long way, does not keep; the rest came back.
    for expansion in (expansion for entry in rounds for expansion in entry.expansions):
        row = scorer.row(scorer.tree.path(expansion.node))
        after, kept = kept_by_rule(row, decoding)
        arcs = automaton.arcs(expansion.state)
        legal = [token for token, given_arc in zip(arcs.tokens.tolist(), arcs.in_prefix, strict=True) if not given_arc]
        if ending.when == "demanded" and automaton.is_final(expansion.state):
            legal.append(END_OF_TEXT)
        if len(scorer.tree.path(expansion.node)) >= longest:
            legal = [token for token in legal if token == END_OF_TEXT]
        forbidden = set(legal) - kept
        assert {cut.token for cut in expansion.cut} == forbidden
        assert expansion.cut_count == len(forbidden)
        assert not forbidden & set(expansion.children.tokens.tolist())
        for cut in expansion.cut:
            assert cut.log_prob == pytest.approx(float(after[cut.token]), abs=1e-5)
            assert cut.rank == 1 + sum(float(value) > float(after[cut.token]) + 1e-6 for value in after)


def _state(automaton: TableAutomaton, path: list[int], ended: bool) -> int:
    state = automaton.start
    for token in path:
        state = automaton.step(state, token)
    return -1 if ended else state


def test_a_chain_is_one_forward_and_its_cut_links_have_no_cost():
    table = {0: {0: 1, 5: 1}, 1: {1: 2}, 2: {2: 3}, 3: {}}
    automaton = TableAutomaton(table, {3})
    open_rule = recorded(automaton, TableScorer(VOCABULARY), 1)
    assert "chain" in {expansion.why for entry in open_rule for expansion in entry.expansions}
    assert all(made.cost is not None for entry in open_rule for made in entry.made)
    tight = recorded(automaton, TableScorer(VOCABULARY, seed=2), 1, decoding=Decoding(top_k=2))
    made = {made.node: made for entry in tight for made in entry.made}
    emitted = {item.node for entry in tight for item in entry.emitted}
    truths = enumerate_matches(automaton, TableScorer(VOCABULARY, seed=2), Decoding(top_k=2), 9, Ending())
    assert len(emitted) == len(truths)
    for node in made.values():
        assert node.cost is None or math.isfinite(node.cost)


def test_the_first_of_a_forward_is_the_cheapest_and_others_go_ahead():
    width = 30
    table = {0: dict.fromkeys(range(width), 1), 1: dict.fromkeys(range(width), 2), 2: {0: 3, 1: 3}, 3: {}}
    rounds = recorded(TableAutomaton(table, {3}), TableScorer(width), 8)
    for before, entry in pairwise(rounds):
        if not entry.expansions:
            continue
        assert entry.expansions[0].cost == min(item.cost for item in before.frontier)
        assert {expansion.why for expansion in entry.expansions[1:]} <= {"ahead"}
        assert entry.expansions[0].why == "cheapest"
    assert max(len(entry.expansions) for entry in rounds) == 8
