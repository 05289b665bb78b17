"""Token paths counted and drawn, against every path written out."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest
from scipy.stats import chisquare

from relens.errors import LimitError, QueryError
from relens.language.walks import Walks
from relens.query import Encoding, Limits, Query
from relens.tokens.checked import CheckedAutomaton
from relens.tokens.compiled import compile_query
from relens.tokens.encoded import token_automaton
from relens.tokens.laws import paths
from relens.tokens.token_walks import token_walks, uniform_token_paths
from relens.tokens.tokenizer import Tokenizer
from tests.engine.tokens.conftest import OTHERS
from tests.engine.tokens.helpers import language

PATTERNS = ["a|b{1,3}", "The (cat|dog)s?", "", "( |the){0,3}", "(é|ß)a?"]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("encoding", list(Encoding))
def test_columns_have_every_path(small: Tokenizer, pattern: str, encoding: Encoding) -> None:
    automaton = token_automaton(language(pattern), small, encoding, Limits())
    arcs = token_walks(automaton, longest=50)
    after = {
        (source, token): target
        for source, token, target in zip(
            arcs.sources.tolist(), arcs.tokens.tolist(), arcs.destinations.tolist(), strict=True
        )
    }
    assert len(after) == len(arcs.sources)
    written = paths(automaton)
    walks = Walks(arcs.sources, arcs.tokens, arcs.destinations, arcs.final, 50)
    assert walks.count == len(written)
    assert sorted(tuple(walks.walk(number)) for number in range(walks.count)) == sorted(written)
    for path in written:
        state = 0
        for token in path:
            state = after[state, token]
        assert arcs.final[state]


@pytest.mark.parametrize("encoding", list(Encoding))
def test_draws_are_uniform_over_paths(small: Tokenizer, encoding: Encoding) -> None:
    automaton = token_automaton(language("the (cat|dog)|a|b{1,3}"), small, encoding, Limits())
    written = paths(automaton)
    drawn = uniform_token_paths(automaton, 40 * len(written), random.Random(3), longest=50)
    counts = Counter(map(tuple, drawn))
    assert set(counts) <= set(written)
    assert chisquare([counts[path] for path in written]).pvalue > 0.001
    assert drawn == uniform_token_paths(automaton, len(drawn), random.Random(3), longest=50), "a seed decides all"


def test_a_string_is_as_likely_as_it_has_encodings(small: Tokenizer) -> None:
    compiled = compile_query(Query("x", prefix="a|(the){1,2}", prefix_encoding=Encoding.ALL), small)
    automaton = compiled.prefix_paths()
    assert automaton is not None
    written = Counter(small.decode(path) for path in paths(automaton))
    assert len(set(written.values())) > 1
    drawn = Counter(small.decode(path) for path in uniform_token_paths(automaton, 4_000, random.Random(5), 50))
    expected = [4_000 * written[text] / written.total() for text in sorted(written)]
    assert chisquare([drawn[text] for text in sorted(written)], expected).pvalue > 0.001


def test_cycles_are_unrolled_to_the_limit(small: Tokenizer) -> None:
    automaton = token_automaton(language("(ab)*c"), small, Encoding.ALL, Limits())
    finite = token_automaton(language("(ab){0,4}c"), small, Encoding.ALL, Limits())
    expected = [path for path in paths(finite) if len(path) <= 5]
    arcs = token_walks(automaton, longest=5)
    walks = Walks(arcs.sources, arcs.tokens, arcs.destinations, arcs.final, 5)
    assert sorted(tuple(walks.walk(number)) for number in range(walks.count)) == sorted(expected)


def test_unconfirmed_paths_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relens.tokens.enumerated.MOST_STRINGS", -1)
    tokenizer = OTHERS["unigram"]()
    automaton = token_automaton(language("(the|cat|dog)( of| or)?"), tokenizer, Encoding.CANONICAL, Limits())
    assert automaton.needs_confirmation
    written = paths(automaton)
    counts = Counter(map(tuple, uniform_token_paths(automaton, 30 * len(written), random.Random(1), 50)))
    assert set(counts) <= set(written)
    assert chisquare([counts[path] for path in written]).pvalue > 0.001


class Refused(CheckedAutomaton):
    def belongs(self, token_ids: Sequence[int]) -> bool:
        return False


def test_refusals(gpt2: Tokenizer) -> None:
    canonical = token_automaton(language("[a-z]+"), gpt2, Encoding.CANONICAL, Limits())
    with pytest.raises(LimitError, match="50,000 arcs"):
        token_walks(canonical, longest=5, most_arcs=50_000)
    with pytest.raises(QueryError, match="at most 2 tokens"):
        uniform_token_paths(
            token_automaton(language("a b c"), gpt2, Encoding.CANONICAL, Limits()), 1, random.Random(0), 2
        )
    with pytest.raises(QueryError, match="Hardly any"):
        uniform_token_paths(
            Refused(token_automaton(language("ab"), gpt2, Encoding.ALL, Limits())), 1, random.Random(0), 50
        )
