"""Many queries together against each one alone."""

from __future__ import annotations

import re

import pytest

from relens import (
    Decoding,
    Distribution,
    Encoding,
    Limits,
    Query,
    Sampling,
    ShortestPath,
    load_model,
    search,
    search_many,
)
from relens.errors import EmptyLanguageError, QueryError, RegexError
from relens.traversal.results import Match

WORDS = ["cat", "dog", "log", "mat", "art", "science", "George", "Washington"]
QUERIES = [
    Query(r" [a-z]+(\.|,)?", prefix=re.escape(f"The {word} was"), decoding=Decoding(top_k=9), max_tokens=12)
    for word in WORDS
]


@pytest.fixture(scope="module")
def tiny(tiny_model_folder):
    return load_model(str(tiny_model_folder), device="cpu", dtype="float32")


def same(one: Match, other: Match) -> bool:
    return (
        (one.token_ids, one.groups, one.count) == (other.token_ids, other.groups, other.count)
        and one.decoder_log_prob == pytest.approx(other.decoder_log_prob, abs=1e-4)
        and one.weight == pytest.approx(other.weight, rel=1e-3)
    )


@pytest.mark.parametrize(
    "traversal", [ShortestPath("conditional"), Sampling(40, seed=2), Distribution(0.3)], ids=lambda each: each.kind
)
def test_together_is_as_alone(tiny, traversal):
    limits = Limits(matches=6)
    run = search_many(tiny, QUERIES, traversal, limits)
    answers = sorted(run, key=lambda answer: answer.number)
    assert [answer.number for answer in answers] == list(range(len(QUERIES)))
    for answer in answers:
        assert answer.query == QUERIES[answer.number]
        alone = search(tiny, answer.query, traversal, limits)
        matches = list(alone)
        if isinstance(traversal, ShortestPath):
            assert all(map(same, answer.matches, matches))
        by_path = {match.token_ids: match for match in matches}
        assert set(by_path) == {match.token_ids for match in answer.matches}
        assert all(same(match, by_path[match.token_ids]) for match in answer.matches)
        assert answer.progress.ended == alone.progress.ended
        assert answer.progress.found_mass == pytest.approx(alone.progress.found_mass, rel=1e-3)
    progress = run.progress
    assert progress.queries == progress.answered == len(QUERIES)
    assert progress.matches == sum(len(answer.matches) for answer in answers)
    assert progress.expansions == sum(answer.progress.expansions for answer in answers)
    assert progress.ended == "exhausted"


def test_many_take_fewer_forwards(tiny):
    together = search_many(tiny, QUERIES, limits=Limits(matches=5))
    list(together)
    alone = 0
    for query in QUERIES:
        run = search(tiny, query, limits=Limits(matches=5))
        list(run)
        alone += run.progress.forwards
    assert together.progress.forwards < alone / 2


def test_a_query_with_an_error_is_an_answer(tiny):
    queries = [
        Query("(a"),
        QUERIES[0],
        Query(r"[^\s\S]"),
        Query("x", prefix="cat " * 200),
        QUERIES[1],
    ]
    answers = {answer.number: answer for answer in search_many(tiny, queries, limits=Limits(matches=2))}
    assert isinstance(answers[0].error, RegexError)
    assert isinstance(answers[2].error, EmptyLanguageError)
    assert isinstance(answers[3].error, QueryError)
    assert [len(answers[number].matches) for number in range(5)] == [0, 2, 0, 0, 2]
    assert answers[1].error is None


def test_stop_and_time_keep_the_matches_so_far(tiny):
    looks = iter(range(100))
    run = search_many(tiny, QUERIES, limits=Limits(matches=None, expansions=None), stop=lambda: next(looks) > 6)
    answers = list(run)
    assert run.progress.ended == "stopped"
    assert "stopped" in {answer.progress.ended for answer in answers}
    assert any(answer.matches for answer in answers)
    late = search_many(tiny, QUERIES, limits=Limits(seconds=1e-9))
    assert all(answer.progress.ended == "seconds" for answer in late)
    assert late.progress.ended == "seconds"


def test_polling_gives_the_same_answers(tiny):
    run = search_many(tiny, QUERIES, limits=Limits(matches=3))
    answers = []
    while not run.finished:
        answers += run.poll(0.0)
    assert sorted(answer.number for answer in answers) == list(range(len(QUERIES)))


def test_no_queries_are_answered_at_once(tiny):
    run = search_many(tiny, [])
    assert list(run) == []
    assert run.progress.ended == "exhausted"


def test_some_with_begin_of_text_and_some_without_are_refused(tiny):
    with pytest.raises(QueryError, match="begin-of-text"):
        search_many(tiny, [Query("a"), Query("a", prefix="b", begin_of_text=False)])


def test_prefixes_of_one_query_are_searched_side_by_side(tiny):
    query = Query(" (sat|ran)", prefix=f"The ({'|'.join(WORDS)})", encoding=Encoding.CANONICAL)
    run = search(tiny, query, Distribution(0))
    assert len({match.prefix_text for match in run}) == len(WORDS)
    assert run.progress.forwards <= 8
