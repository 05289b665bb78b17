"""The search against exhaustive enumeration of every path, on models and automata that are tables."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import QueryError
from engine.query import Decoding
from engine.traversal.shortest_path import Found, ShortestPathSearch
from tests.engine.traversal.tables import FixedBatch, TableAutomaton, TableScorer

VOCABULARY = 7
END_OF_TEXT = 6


@dataclass
class Truth:
    token_ids: tuple[int, ...]
    prefix_tokens: int
    prefix_log_prob: float
    log_prob: float
    decoder_log_prob: float
    log_weight: float


def kept_by_rule(row: torch.Tensor, decoding: Decoding) -> tuple[torch.Tensor, set[int]]:
    """The tempered distribution and the tokens kept, the long way: sort everything and count."""
    after = torch.log_softmax(row.double() / decoding.temperature, dim=0).tolist()
    order = sorted(range(len(after)), key=lambda token: -after[token])
    kept = set(range(len(after)))
    if decoding.top_k is not None and decoding.top_k < len(after):
        least = after[order[decoding.top_k - 1]]
        kept &= {token for token in kept if after[token] >= least - 1e-6}
    if decoding.top_p is not None and decoding.top_p < 1:
        total = 0.0
        for token in order:
            total += math.exp(after[token])
            least = after[token]
            if total >= decoding.top_p:
                break
        kept &= {token for token in range(len(after)) if after[token] >= least - 1e-6}
    return torch.tensor(after, dtype=torch.float64), kept


def enumerate_matches(
    automaton: TableAutomaton, scorer: TableScorer, decoding: Decoding, longest: int, end_of_text: int | None
) -> list[Truth]:
    truths = []
    literal = True
    state = automaton.start
    while literal and automaton.arcs(state).in_prefix.any():
        literal = len(automaton.arcs(state).tokens) == 1 and not automaton.is_final(state)
        state = automaton.step(state, int(automaton.arcs(state).tokens[0]))
    for path in automaton.paths(longest):
        prefix_log_prob = log_prob = decoder_log_prob = log_weight = 0.0
        state, prefix_tokens, possible = automaton.start, 0, True
        steps = list(path) + ([] if end_of_text is None else [end_of_text])
        for position, token in enumerate(steps):
            before = scorer.row(path[:position])
            after, kept = kept_by_rule(before, decoding)
            target = automaton.step(state, token) if position < len(path) else -1
            has_prefix_arcs = any(automaton.arcs(state).in_prefix)
            if has_prefix_arcs and not literal:
                log_weight += float(before[token])
            if target in automaton.in_prefix:
                prefix_tokens += 1
                if position > 0 or scorer.scores_root:
                    prefix_log_prob += float(before[token])
            else:
                possible &= token in kept
                log_prob += float(after[token])
                norm = torch.logsumexp(after[sorted(kept)], dim=0) if len(kept) < len(after) else torch.tensor(0.0)
                decoder_log_prob += float(after[token] - norm)
                if not has_prefix_arcs:
                    log_weight += float(after[token] - norm)
            state = target
        if possible:
            truths.append(Truth(path, prefix_tokens, prefix_log_prob, log_prob, decoder_log_prob, log_weight))
    return truths


def true_mass(truths: list[Truth], end_of_text: int | None) -> float:
    accepted = {truth.token_ids for truth in truths}
    total = 0.0
    for truth in truths:
        extends = any(truth.token_ids[:length] in accepted for length in range(len(truth.token_ids)))
        if end_of_text is not None or not extends:
            total += math.exp(truth.log_weight)
    return total


@st.composite
def automata(draw: st.DrawFn) -> TableAutomaton:
    """Random automata with cycles, in which a first part of the states lies inside the prefix; no dead ends."""
    count = draw(st.integers(2, 6))
    prefix_count = draw(st.integers(0, count - 1))
    table: dict[int, dict[int, int]] = {}
    for state in range(count):
        tokens = draw(st.lists(st.integers(0, VOCABULARY - 2), max_size=3, unique=True))
        # A prefix state is never reached again once it was left.
        least = 0 if state < prefix_count else prefix_count
        table[state] = {token: draw(st.integers(least, count - 1)) for token in tokens}
    finals = set(draw(st.lists(st.integers(prefix_count, count - 1), min_size=1, unique=True)))
    reaching = set(finals)
    for _ in range(count):
        reaching |= {state for state, row in table.items() if set(row.values()) & reaching}
    table = {
        state: {token: target for token, target in row.items() if target in reaching} for state, row in table.items()
    }
    return TableAutomaton(table, finals, set(range(prefix_count)))


decodings = st.builds(
    Decoding,
    top_k=st.none() | st.integers(1, 5),
    top_p=st.none() | st.floats(0.2, 1.0),
    temperature=st.sampled_from([1.0, 1.0, 0.5, 1.7]),
)


def run_all(search: ShortestPathSearch) -> tuple[list[Found], list[tuple[float, float]]]:
    found, bounds = [], [(search.found_mass, search.found_mass + search.remaining_mass)]
    while not search.finished:
        found += search.step()
        bounds.append((search.found_mass, search.found_mass + search.remaining_mass))
    return found, bounds


@settings(max_examples=400, deadline=None)
@given(
    automaton=automata(),
    decoding=decodings,
    rank=st.sampled_from(["joint", "conditional"]),
    batch=st.sampled_from([1, 3, 64]),
    chunk=st.sampled_from([1, 2, 64]),
    ends=st.booleans(),
    seed=st.integers(0, 5),
    longest=st.integers(1, 5),
)
def test_search_equals_enumeration(automaton, decoding, rank, batch, chunk, ends, seed, longest):
    scorer = TableScorer(VOCABULARY, seed=seed)
    end_of_text = END_OF_TEXT if ends else None
    try:
        search = ShortestPathSearch(
            automaton,
            scorer,
            batch=FixedBatch(batch),
            decoding=decoding,
            rank=rank,
            end_of_text=end_of_text,
            max_tokens=longest,
            first_chunk=chunk,
        )
    except QueryError:  # the prefix is longer than the longest match; see below
        return
    found, bounds = run_all(search)
    truths = enumerate_matches(automaton, scorer, decoding, longest, end_of_text)

    by_path = {truth.token_ids: truth for truth in truths}
    assert sorted(by_path) == sorted(match.token_ids for match in found)
    previous = math.inf
    for match in found:
        truth = by_path[match.token_ids]
        assert match.prefix_tokens == truth.prefix_tokens
        assert match.prefix_log_prob == pytest.approx(truth.prefix_log_prob, abs=1e-5)
        assert match.log_prob == pytest.approx(truth.log_prob, abs=1e-5)
        assert match.decoder_log_prob == pytest.approx(truth.decoder_log_prob, abs=1e-5)
        assert sum(match.token_log_probs) == pytest.approx(match.prefix_log_prob + match.log_prob, abs=1e-9)
        assert sum(match.token_decoder_log_probs) == pytest.approx(match.decoder_log_prob, abs=1e-9)
        assert len(match.token_log_probs) == len(match.token_ids) + ends
        value = match.decoder_log_prob + (match.prefix_log_prob if rank == "joint" else 0.0)
        assert value <= previous + 1e-12
        previous = value

    mass = true_mass(truths, end_of_text)
    for lower, upper in bounds:
        assert lower <= mass + 1e-6
        assert upper >= mass - 1e-6
    assert bounds[-1][0] == pytest.approx(mass, abs=1e-6)
    assert bounds[-1][1] == pytest.approx(mass, abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(automaton=automata(), decoding=decodings, wanted=st.integers(1, 4), seed=st.integers(0, 3))
def test_first_matches_are_the_best_and_batches_do_not_change_them(automaton, decoding, wanted, seed):
    def first(batch: int) -> list[Found]:
        search = ShortestPathSearch(
            automaton, TableScorer(VOCABULARY, seed=seed), batch=FixedBatch(batch), decoding=decoding, max_tokens=5
        )
        found: list[Found] = []
        while not search.finished and len(found) < wanted:
            found += search.step(wanted - len(found))
        return found

    try:
        single = first(1)
    except QueryError:
        return
    assert len(single) <= wanted
    rank = [match.prefix_log_prob + match.decoder_log_prob for match in single]
    for batch in (2, 5, 64):
        assert [match.prefix_log_prob + match.decoder_log_prob for match in first(batch)] == pytest.approx(rank)


def test_speculation_wastes_a_fraction():
    """From a wide automaton, the first ten matches: nodes opened by batches against nodes opened one at a time."""
    width = 40
    table = {0: dict.fromkeys(range(width), 1), 1: dict.fromkeys(range(width), 2), 2: {0: 3, 1: 3}, 3: {}}
    automaton = TableAutomaton(table, {3})

    def opened(batch: int) -> int:
        search = ShortestPathSearch(automaton, TableScorer(width), batch=FixedBatch(batch))
        count = 0
        while count < 10:
            count += len(search.step(10 - count))
        return search.expansions

    assert opened(64) <= 1.5 * opened(1) + 1


def test_forced_chain_is_one_forward():
    table = {state: {state: state + 1} for state in range(5)} | {5: {0: 6, 1: 6}, 6: {}}
    scorer = TableScorer(VOCABULARY)
    search = ShortestPathSearch(TableAutomaton(table, {6}), scorer, batch=FixedBatch(8))
    run_all(search)
    assert len(scorer.calls) == 1
    assert len(scorer.calls[0]) == 6


def test_literal_prefix_is_given_and_its_mass_is_not_counted():
    table = {0: {0: 1}, 1: {1: 2}, 2: {2: 3, 3: 3}, 3: {}}
    scorer = TableScorer(VOCABULARY)
    search = ShortestPathSearch(TableAutomaton(table, {3}, {0, 1, 2}), scorer, batch=FixedBatch(1))
    found, _ = run_all(search)
    assert not search.mass_is_joint
    row = scorer.row([0, 1]).exp()
    assert search.found_mass == pytest.approx(float(row[2] + row[3]), abs=1e-6)
    assert all(match.prefix_tokens == 2 for match in found)


def test_final_state_without_arcs_costs_no_forward():
    scorer = TableScorer(VOCABULARY)
    search = ShortestPathSearch(TableAutomaton({0: {0: 1, 1: 1}, 1: {}}, {1}), scorer, batch=FixedBatch(8))
    found, _ = run_all(search)
    assert len(found) == 2
    assert scorer.calls == [[0]]


def test_without_begin_of_text_the_first_token_must_be_given():
    open_start = TableAutomaton({0: {0: 1, 1: 1}, 1: {}}, {1})
    with pytest.raises(QueryError, match="begin-of-text"):
        ShortestPathSearch(open_start, TableScorer(VOCABULARY, scores_root=False), batch=FixedBatch(1))
    two_prefixes = TableAutomaton({0: {0: 1, 1: 1}, 1: {2: 2}, 2: {}}, {2}, {0, 1})
    with pytest.raises(QueryError, match="2 tokens"):
        ShortestPathSearch(two_prefixes, TableScorer(VOCABULARY, scores_root=False), batch=FixedBatch(1))
    literal = TableAutomaton({0: {4: 1}, 1: {2: 2, 3: 2}, 2: {}}, {2}, {0, 1})
    scorer = TableScorer(VOCABULARY, scores_root=False)
    found, _ = run_all(ShortestPathSearch(literal, scorer, batch=FixedBatch(1)))
    assert found[0].prefix_log_prob == 0.0
    assert sorted(match.token_ids for match in found) == [(4, 2), (4, 3)]


def test_prefix_longer_than_allowed_is_refused():
    table = {state: {0: state + 1} for state in range(6)} | {6: {1: 7}, 7: {}}
    automaton = TableAutomaton(table, {7}, set(range(7)))
    with pytest.raises(QueryError, match="more than 4 tokens"):
        ShortestPathSearch(automaton, TableScorer(VOCABULARY), batch=FixedBatch(1), max_tokens=4)
    with pytest.raises(QueryError, match="more than 5 tokens"):
        ShortestPathSearch(automaton, TableScorer(VOCABULARY, context_length=5), batch=FixedBatch(1), max_tokens=40)


def test_tokens_the_model_does_not_score_are_left_out():
    automaton = TableAutomaton({0: {1: 1, VOCABULARY + 3: 1}, 1: {}}, {1})
    found, _ = run_all(ShortestPathSearch(automaton, TableScorer(VOCABULARY), batch=FixedBatch(1)))
    assert [match.token_ids for match in found] == [(1,)]


def test_everything_closed_is_released():
    scorer = TableScorer(VOCABULARY)
    table = {0: {0: 1, 1: 1}, 1: {2: 2, 3: 2}, 2: {4: 3, 5: 3}, 3: {}}
    run_all(ShortestPathSearch(TableAutomaton(table, {3}), scorer, batch=FixedBatch(2)))
    asked = {node for call in scorer.calls for node in call}
    assert set(scorer.released) == asked
