"""Random walks against every string, listed in a second way, and draws against the exact shares."""

from __future__ import annotations

import itertools
import math
import string
from collections import Counter
from fractions import Fraction

import pytest
from scipy.stats import chisquare

from relens.errors import LimitError, QueryError, RegexError
from relens.learn.jobs import walk_job
from relens.learn.random_walks import RULES, UNEDITED, RandomWalks, random_walks
from relens.query import Edits, Limits, Query
from relens.runs.learning import WalkAnswers

PRINTABLE = [chr(code) for code in range(0x20, 0x7F)]


@pytest.fixture(scope="module", params=["The", "ab|ba", "aab", "(cat|dog)"])
def walks(request, byte_tokenizer) -> RandomWalks:
    return random_walks(request.param, byte_tokenizer, draws=4000, seed=3)


def words_of(pattern: str) -> list[str]:
    return pattern.strip("()").split("|")


def within_one_edit(words: list[str]) -> set[str]:
    """By hand: every insertion, deletion and replacement."""
    strings = set(words)
    for word in words:
        for place in range(len(word) + 1):
            strings.update(word[:place] + letter + word[place:] for letter in PRINTABLE)
        for place in range(len(word)):
            strings.add(word[:place] + word[place + 1 :])
            strings.update(word[:place] + letter + word[place + 1 :] for letter in PRINTABLE)
    return strings


def edge_shares(strings: set[str]) -> dict[str, Fraction]:
    """A walk by edges in the tree of all beginnings, which has the same choices as the deterministic automaton."""
    beginnings = {text[:length] for text in strings for length in range(len(text) + 1)}
    ways = Counter(text[:-1] for text in beginnings if text) + Counter(strings)
    return {text: Fraction(1, math.prod(ways[text[:length]] for length in range(len(text) + 1))) for text in strings}


def spellings(text: str, tokens: Counter) -> int:
    if not text:
        return 1
    data = text.encode()
    ends = [end for end in range(1, len(data) + 1) if tokens[data[:end]]]
    return sum(tokens[data[:end]] * spellings(data[end:].decode(), tokens) for end in ends)


def test_exact_shares_are_those_of_all_strings(walks, byte_tokenizer):
    strings = within_one_edit(words_of(walks.pattern))
    assert walks.strings == len(strings)
    vocabulary = byte_tokenizer.vocabulary
    tokens = Counter(filter(None, (vocabulary[token] for token in range(len(vocabulary)))))
    by_edges = edge_shares(strings)
    assert sum(by_edges.values()) == 1
    weights = {
        "strings": dict.fromkeys(strings, 1),
        "edges": by_edges,
        "tokens": {text: spellings(text, tokens) for text in strings},
    }
    read = _reader(walks.pattern)
    for draws in walks.draws:
        totals: Counter = Counter()
        for text in strings:
            totals[read(text)] += weights[draws.rule][text]
        everything = sum(totals.values())
        assert len(draws.exact) == max(totals) + 2
        for place, share in enumerate(draws.exact, UNEDITED):
            assert share == pytest.approx(float(totals[place] / everything), rel=1e-9)
        assert sum(draws.exact) == pytest.approx(1.0)


def _reader(pattern: str):
    """The place of the edit, each string read by itself."""
    from relens.language.compile import compile_language
    from relens.language.reading import Reader

    query = Query(pattern, edits=Edits(1, where="pattern"))
    reader = Reader(query, compile_language(query, Limits()))

    def position(text: str) -> int:
        edits = reader.read(text).edits
        return edits[0].position if edits else UNEDITED

    return position


def test_draws_tend_to_the_exact_shares(walks):
    for draws in walks.draws:
        assert len(draws.positions) == 4000
        counts = Counter(draws.positions)
        expected = [share * 4000 for share in draws.exact]
        drawn = [counts[place] for place in range(UNEDITED, len(draws.exact) - 1)]
        # Chi-squared needs at least a few in each cell: the rare ones are pooled.
        rare = [place for place, value in enumerate(expected) if value < 5]
        common = [place for place, value in enumerate(expected) if value >= 5]
        observed = [drawn[place] for place in common] + ([sum(drawn[place] for place in rare)] if rare else [])
        pooled = [expected[place] for place in common] + ([sum(expected[place] for place in rare)] if rare else [])
        if sum(pooled[len(common) :]) == 0:
            observed, pooled = observed[: len(common)], pooled[: len(common)]
        if len(observed) > 1:
            assert chisquare(observed, pooled).pvalue > 1e-4
    assert [draws.rule for draws in walks.draws] == list(RULES)


def test_a_walk_follows_the_drawn_automaton_and_its_probabilities_multiply(walks):
    total = walks.strings
    by_edges = edge_shares(within_one_edit(words_of(walks.pattern)))
    for walk in itertools.chain.from_iterable(draws.walks for draws in walks.draws):
        by_strings, edges, at = Fraction(1), 1.0, walks.graph.start
        for crossing_place, turn_place in zip(walk.crossings, walk.turns, strict=True):
            crossing = walks.crossings[crossing_place]
            assert crossing.state == at
            assert sum(turn.by_strings for turn in crossing.turns) == pytest.approx(1.0)
            assert sum(turn.by_edges for turn in crossing.turns) == pytest.approx(1.0)
            turn = crossing.turns[turn_place]
            by_strings *= Fraction(turn.by_strings) / turn.count
            edges *= turn.by_edges / turn.count
            if turn.target is not None:
                arcs = [arc for arc in walks.graph.arcs if (arc.source, arc.target) == (at, turn.target)]
                assert [arc.label for arc in arcs] == [turn.label]
                at = turn.target
        assert at in walks.graph.finals
        assert turn.target is None
        assert float(by_strings) == pytest.approx(1 / total)
        assert edges == pytest.approx(float(by_edges[walk.text]))
        assert len(walk.turns) == len(walk.text) + 1


def test_characters_of_several_bytes_have_the_product_of_their_bytes(byte_tokenizer):
    walks = random_walks("é", byte_tokenizer, draws=50)
    start = walks.crossings[0]
    # 95 letters to insert, the byte that begins é, and to stop: é has been left out.
    assert start.state == walks.graph.start
    assert {turn.label: turn.by_edges for turn in start.turns}["é"] == pytest.approx(1 / 97)


def test_the_same_seed_draws_the_same(byte_tokenizer):
    first, again = (random_walks("ab", byte_tokenizer, draws=200, seed=5) for _ in range(2))
    assert first == again
    assert first.draws != random_walks("ab", byte_tokenizer, draws=200, seed=6).draws
    assert RandomWalks.from_json(first.to_json()) == first


def test_a_large_or_malformed_pattern_is_refused(byte_tokenizer):
    with pytest.raises(LimitError, match="at most 12,000"):
        random_walks("a*", byte_tokenizer)
    with pytest.raises(LimitError, match="at most 12,000"):
        random_walks(string.ascii_lowercase * 4, byte_tokenizer)
    with pytest.raises(RegexError):
        random_walks("(", byte_tokenizer)
    with pytest.raises(QueryError, match="walks are drawn"):
        random_walks("a", byte_tokenizer, draws=0)


def test_a_job_gives_the_walks_of_the_function(tiny_model_folder, monkeypatch):
    from relens.models.loading import load_tokenizer

    tokenizer = load_tokenizer(str(tiny_model_folder))
    monkeypatch.setattr("relens.learn.jobs.tokenizer_for_page", lambda _: tokenizer)
    answers = WalkAnswers(call=walk_job)
    assert answers.walks("ab", "tiny", 1, 100) == random_walks("ab", tokenizer, draws=100, seed=1)
