"""Draws against the distribution they must come from, enumerated on models and automata that are tables."""

from __future__ import annotations

import math

import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from relens.errors import QueryError
from relens.query import Decoding
from relens.traversal.legal import Ending
from relens.traversal.sampling import SamplingSearch
from relens.traversal.search import TokenMatch
from tests.engine.traversal.tables import Driven, TableAutomaton, TableScorer
from tests.engine.traversal.truth import END_OF_TEXT, VOCABULARY, automata, decodings, enumerate_matches

ENDINGS = [Ending("demanded", END_OF_TEXT), Ending("settling", END_OF_TEXT)]


def sampling(automaton: TableAutomaton, scorer: TableScorer, count: int, *, batch: int, seed: int = 0, **options):
    options = {"ending": ENDINGS[1], "seed": (seed,), **options}
    return Driven(lambda view: SamplingSearch(automaton, view, count, **options), scorer, batch)


@settings(max_examples=300)
@given(
    automaton=automata(),
    decoding=decodings,
    ending=st.sampled_from(ENDINGS),
    batch=st.sampled_from([1, 3, 64]),
    seed=st.integers(0, 5),
    longest=st.integers(1, 5),
    count=st.sampled_from([1, 7, 500]),
)
def test_every_draw_is_a_match_with_its_scores_and_weight(automaton, decoding, ending, batch, seed, longest, count):
    scorer = TableScorer(VOCABULARY, seed=seed)
    try:
        search = sampling(automaton, scorer, count, batch=batch, ending=ending, decoding=decoding, max_tokens=longest)
    except QueryError:  # the prefix is longer than the longest match
        return
    matches = search.run()
    assert search.samples == count
    assert sum(match.count for match in matches) + search.failed == count
    assert set(scorer.released) == {node for call in scorer.calls for node in call} - {0}
    truths = {truth.token_ids: truth for truth in enumerate_matches(automaton, scorer, decoding, longest, ending)}
    assert len({match.token_ids for match in matches}) == len(matches)
    for match in matches:
        truth = truths[match.token_ids]
        assert match.ended == truth.ended
        assert match.prefix_tokens == truth.prefix_tokens
        assert match.prefix_log_prob == pytest.approx(truth.prefix_log_prob, abs=1e-5)
        assert match.log_prob == pytest.approx(truth.log_prob, abs=1e-5)
        assert match.decoder_log_prob == pytest.approx(truth.decoder_log_prob, abs=1e-5)
        assert sum(match.token_decoder_log_probs) == pytest.approx(match.decoder_log_prob, abs=1e-9)
        # A path is drawn with probability P / weight, which is no more than 1.
        assert truth.log_weight - math.log(match.weight) <= 1e-5


@settings(max_examples=60)
@given(automaton=automata(), decoding=decodings, ending=st.sampled_from(ENDINGS), seed=st.integers(0, 3))
def test_draws_are_the_same_however_they_are_batched(automaton, decoding, ending, seed):
    def drawn(batch: int) -> list[TokenMatch]:
        search = sampling(
            automaton, TableScorer(VOCABULARY, seed=seed), 200, batch=batch, seed=seed, ending=ending,
            decoding=decoding, max_tokens=4,
        )  # fmt: skip
        return sorted(search.run(), key=lambda match: match.token_ids)

    try:
        one = drawn(1)
    except QueryError:
        assume(False)
    assert drawn(3) == one == drawn(64)


CYCLE = TableAutomaton({0: {0: 1, 1: 2}, 1: {2: 1, 3: 2}, 2: {4: 2, 5: 3}, 3: {}}, {1, 2, 3})


@pytest.mark.parametrize("decoding", [Decoding(), Decoding(top_k=5), Decoding(top_p=0.95, temperature=2.0)])
@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.when)
def test_draws_fit_the_proposal_and_weights_make_up_the_difference(decoding, ending):
    count, cells = 20_000, 0
    for seed in range(8):
        scorer = TableScorer(VOCABULARY, seed=seed)
        search = sampling(CYCLE, scorer, count, batch=8, seed=1, ending=ending, decoding=decoding, max_tokens=4)
        matches = search.run()
        # The probability to be drawn is P / weight; the rest up to 1 are failed draws.
        expected = [count * math.exp(match.decoder_log_prob) / match.weight for match in matches]
        observed = [match.count for match in matches]
        common = [place for place, value in enumerate(expected) if value >= 5]
        if len(common) < 2:
            continue
        cells += len(common)
        observed = [observed[place] for place in common]
        expected = [expected[place] for place in common]
        observed[0] += count - sum(observed)  # the rare ones and the failed
        expected[0] += count - sum(expected)
        assert scipy.stats.chisquare(observed, expected).pvalue > 1e-4

        # So that weighted draws estimate the decoder's own probabilities.
        by_path = {match.token_ids: match for match in matches}
        for truth in enumerate_matches(CYCLE, scorer, decoding, 4, ending):
            exact = math.exp(truth.decoder_log_prob)
            match = by_path.get(truth.token_ids)
            estimate = match.count * match.weight / count if match else 0.0
            deviation = math.sqrt(exact * (match.weight if match else 1.0) / count)
            assert abs(estimate - exact) <= 5 * deviation + 1e-9
    assert cells >= 20


def test_a_given_prefix_takes_nothing_from_the_weight():
    table = {0: {0: 1}, 1: {1: 2}, 2: {2: 3, 3: 3}, 3: {}}
    scorer = TableScorer(VOCABULARY)
    search = sampling(TableAutomaton(table, {3}, {0, 1, 2}), scorer, 100, batch=4)
    matches = search.run()
    row = scorer.row([0, 1]).exp()
    assert all(match.weight == pytest.approx(float(row[2] + row[3]), abs=1e-6) for match in matches)
    assert all(match.prefix_tokens == 2 and match.prefix_log_prob < 0 for match in matches)


def test_a_prefix_with_several_encodings_counts_in_the_weight():
    # The prefix ab as one token 0, or as 1 and 2; the pattern is the token 3.
    table = {0: {0: 2, 1: 1}, 1: {2: 2}, 2: {3: 3}, 3: {}}
    scorer = TableScorer(VOCABULARY)
    matches = sampling(TableAutomaton(table, {3}, {0, 1, 2}), scorer, 4000, batch=4).run()
    first, after_one = scorer.row([]).exp(), scorer.row([1]).exp()
    for match in matches:
        prefix = float(first[0]) if match.token_ids[0] == 0 else float(first[1] * after_one[2])
        assert match.weight * match.count / 4000 == pytest.approx(prefix * math.exp(match.log_prob), rel=0.1)


def test_ten_thousand_draws_cost_the_distinct_nodes():
    table = {0: {0: 1, 1: 1, 2: 1}, 1: {3: 2, 4: 2}, 2: {}}
    scorer = TableScorer(VOCABULARY)
    search = sampling(TableAutomaton(table, {2}), scorer, 10_000, batch=64)
    assert sum(match.count for match in search.run()) == 10_000
    assert search.expansions == 4
    assert len(scorer.calls) == 2


def test_a_forced_token_outside_the_rule_fails_its_draws_once():
    # Token 5 is the only way on and greedy decoding does not take it.
    likeliest = int(TableScorer(VOCABULARY).row([]).argmax())
    other = next(token for token in range(VOCABULARY - 1) if token != likeliest)
    table = {0: {other: 1}, 1: {other: 2}, 2: {other: 3}, 3: {}}
    for batch in (1, 64):
        search = sampling(
            TableAutomaton(table, {3}), TableScorer(VOCABULARY), 50, batch=batch, decoding=Decoding.greedy()
        )
        assert search.run() == []
        assert (search.samples, search.failed) == (50, 50)
