"""Prefix and pattern joined, against the definitions read aloud."""

from __future__ import annotations

import functools
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import NoEncodingError
from engine.query import Boundary, Encoding, Query
from engine.tokens.compiled import CompiledQuery, compile_query
from engine.tokens.laws import assert_laws, paths
from engine.tokens.query_automaton import QueryAutomaton
from engine.tokens.tokenizer import Tokenizer
from tests.engine.tokens.conftest import OTHERS
from tests.engine.tokens.helpers import language, segmentations, strings

PREFIXES = ["a", "ab?", "The ", "(a|ab|abc)", "a{0,3}", "It's", "(the |the)"]
PATTERNS = ["b", "(b|cat)?", " ?cat", "a{0,2}b", "(s|t| the){0,2}", "c?"]
Path = tuple[int, ...]


@functools.cache
def sequences(tokenizer: Tokenizer, pattern: str, encoding: Encoding, continues: bool = False) -> set[Path]:
    """Every encoding of every string, by enumeration."""
    found: set[Path] = set()
    language_strings = set(strings(language(pattern)))
    for data in language_strings:
        if encoding is Encoding.CANONICAL:
            found.add(tuple(tokenizer.encode(data.decode(), continues)))
        else:
            spelled = [data] if continues or not tokenizer.drops_first_space else [b" " + data]
            if spelled[0] != data and not data.startswith(b" "):
                spelled.append(data)
            found.update(path for item in spelled for path in segmentations(tokenizer.vocabulary.token_bytes, item))
    return {path for path in found if tokenizer.decode_bytes(path, continues) in language_strings}


def marks(compiled: CompiledQuery, path: Path) -> list[bool]:
    """Which arcs of a path are prefix arcs."""
    found, state = [], compiled.automaton.start
    for token in path:
        tokens, in_prefix = compiled.automaton.arcs(state)
        found.append(bool(in_prefix[tokens.searchsorted(token)]))
        state = compiled.automaton.step(state, token)
    return found


def check_split(tokenizer: Tokenizer, query: Query) -> None:
    compiled = compile_query(query, tokenizer)
    heads = sequences(tokenizer, query.prefix, query.prefix_encoding)
    tails = sequences(tokenizer, query.pattern, query.encoding, continues=True)
    expected = {head + tail for head, tail in itertools.product(heads, tails)}
    assert_laws(compiled.automaton, most_states=30)
    found = paths(compiled.automaton)
    assert len(found) == len(set(found))
    assert set(found) == expected
    for path in found[:40]:
        assert compiled.accepts_tokens(path)
        if not compiled.automaton.needs_confirmation:
            beginnings = {head[:end] for head in heads for end in range(len(head) + 1)}
            assert marks(compiled, path) == [path[: end + 1] in beginnings for end in range(len(path))]
        is_canonical = any(
            path[:end] in sequences(tokenizer, query.prefix, Encoding.CANONICAL)
            and path[end:] in sequences(tokenizer, query.pattern, Encoding.CANONICAL, continues=True)
            for end in range(len(path) + 1)
        )
        assert compiled.is_canonical(path, sum(marks(compiled, path))) == is_canonical


@given(st.sampled_from(PREFIXES), st.sampled_from(PATTERNS), st.sampled_from(Encoding), st.sampled_from(Encoding))
@settings(deadline=None, max_examples=60)
def test_cut_at_the_boundary(small: Tokenizer, prefix: str, pattern: str, first: Encoding, second: Encoding) -> None:
    check_split(small, Query(pattern, prefix=prefix, encoding=second, prefix_encoding=first))


@functools.cache
def make(name: str) -> Tokenizer:
    return OTHERS[name]()


@pytest.mark.parametrize("name", ["sentencepiece", "unigram"])
@pytest.mark.parametrize("encoding", list(Encoding))
@pytest.mark.parametrize(("prefix", "pattern"), [("The (cat|dog)", "s? (of|or)"), ("a ?", " ?b"), ("or", "(of| or)?")])
def test_the_prefix_gets_the_first_space(name: str, encoding: Encoding, prefix: str, pattern: str) -> None:
    check_split(make(name), Query(pattern, prefix=prefix, encoding=encoding, prefix_encoding=encoding))


@given(st.sampled_from(PREFIXES), st.sampled_from(PATTERNS), st.sampled_from(Encoding))
@settings(deadline=None, max_examples=40)
def test_encoded_as_one(small: Tokenizer, prefix: str, pattern: str, encoding: Encoding) -> None:
    query = Query(pattern, prefix=prefix, encoding=encoding, prefix_encoding=encoding, boundary=Boundary.FREE)
    compiled = compile_query(query, small)
    found = paths(compiled.automaton)
    assert len(found) == len(set(found))
    assert set(found) == sequences(small, f"({prefix})({pattern})", encoding)
    beginnings = {data[:end] for data in strings(language(prefix)) for end in range(len(data) + 1)}
    for path in found[:40]:
        ends = [small.decode_bytes(path[: end + 1]) for end in range(len(path))]
        assert marks(compiled, path) == [spelled in beginnings for spelled in ends]
        assert compiled.is_canonical(path, 0) == small.is_canonical(path)


@pytest.mark.parametrize("boundary", list(Boundary))
@pytest.mark.parametrize("encoding", list(Encoding))
def test_without_a_prefix_there_is_no_boundary(small: Tokenizer, boundary: Boundary, encoding: Encoding) -> None:
    compiled = compile_query(Query("(The |the )?cats", encoding=encoding, boundary=boundary), small)
    assert set(paths(compiled.automaton)) == sequences(small, "(The |the )?cats", encoding)
    for path in paths(compiled.automaton):
        assert not any(marks(compiled, path))
        assert compiled.is_canonical(path, 0) == small.is_canonical(path)


def test_after_a_literal_prefix_the_arrays_are_the_patterns(gpt2: Tokenizer) -> None:
    compiled = compile_query(Query(" [a-z]+", prefix="The cat"), gpt2)
    automaton = compiled.automaton
    assert isinstance(automaton, QueryAutomaton)
    state = automaton.start
    for token in gpt2.encode("The cat"):
        state = automaton.step(state, token)
    state = automaton.step(state, gpt2.encode(" sat")[0])
    again = automaton.step(state, gpt2.encode("s")[0])
    assert automaton.arcs(again).tokens is automaton.arcs(state).tokens
    assert not automaton.arcs(state).in_prefix.any()


def test_a_prefix_that_cannot_be_spelled(smollm2: Tokenizer) -> None:
    with pytest.raises(NoEncodingError):
        compile_query(Query("a", prefix="\x04"), smollm2)
