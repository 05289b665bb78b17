"""Prefix and pattern joined, against the definitions read aloud."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.errors import NoEncodingError
from relens.language.language import Language
from relens.query import Boundary, Encoding, Query
from relens.tokens.compiled import compile_query
from relens.tokens.laws import assert_laws, paths
from relens.tokens.query_automaton import QueryAutomaton
from relens.tokens.tokenizer import Tokenizer
from tests.engine.tokens.conftest import OTHERS
from tests.engine.tokens.helpers import language, marks, spellings, strings
from tests.engine.tokens.written_out import one_edit_in_all, written_language

pytestmark = pytest.mark.heavy

PREFIXES = ["a", "ab?", "The ", "(a|ab|abc)", "a{0,3}", "It's", "(the |the)"]
PATTERNS = ["b", "(b|cat)?", " ?cat", "a{0,2}b", "(s|t| the){0,2}", "c?"]
Path = tuple[int, ...]


@functools.cache
def sequences(tokenizer: Tokenizer, pattern: str, encoding: Encoding, continues: bool = False) -> set[Path]:
    """Every encoding of every string of an expression, by enumeration."""
    return spellings(tokenizer, frozenset(strings(language(pattern))), encoding, continues)


def check_split(tokenizer: Tokenizer, query: Query) -> None:
    compiled = compile_query(query, tokenizer)
    heads = sequences(tokenizer, query.prefix, query.prefix_encoding)
    tails = sequences(tokenizer, query.pattern, query.encoding, continues=True)
    expected = {head + tail for head, tail in itertools.product(heads, tails)}
    assert_laws(compiled.automaton, most_states=30)
    token_paths = paths(compiled.automaton)
    assert len(token_paths) == len(set(token_paths))
    assert set(token_paths) == expected
    for path in token_paths[:40]:
        assert compiled.accepts_tokens(path)
        if not compiled.automaton.needs_confirmation:
            beginnings = {head[:end] for head in heads for end in range(len(head) + 1)}
            assert marks(compiled.automaton, path) == [path[: end + 1] in beginnings for end in range(len(path))]
        is_canonical = any(
            path[:end] in sequences(tokenizer, query.prefix, Encoding.CANONICAL)
            and path[end:] in sequences(tokenizer, query.pattern, Encoding.CANONICAL, continues=True)
            for end in range(len(path) + 1)
        )
        assert compiled.is_canonical(path, sum(marks(compiled.automaton, path))) == is_canonical


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
    token_paths = paths(compiled.automaton)
    assert len(token_paths) == len(set(token_paths))
    assert set(token_paths) == sequences(small, f"({prefix})({pattern})", encoding)
    beginnings = {data[:end] for data in strings(language(prefix)) for end in range(len(data) + 1)}
    for path in token_paths[:40]:
        ends = [small.decode_bytes(path[: end + 1]) for end in range(len(path))]
        assert marks(compiled.automaton, path) == [spelled in beginnings for spelled in ends]
        assert compiled.is_canonical(path, 0) == small.is_canonical(path)


@pytest.mark.parametrize("boundary", list(Boundary))
@pytest.mark.parametrize("encoding", list(Encoding))
def test_without_a_prefix_there_is_no_boundary(small: Tokenizer, boundary: Boundary, encoding: Encoding) -> None:
    compiled = compile_query(Query("(The |the )?cats", encoding=encoding, boundary=boundary), small)
    assert set(paths(compiled.automaton)) == sequences(small, "(The |the )?cats", encoding)
    for path in paths(compiled.automaton):
        assert not any(marks(compiled.automaton, path))
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


ALPHABET = "abt "
prefix_texts = st.frozensets(st.sampled_from(["a", "ab", "The", "ba", "at a"]), min_size=1, max_size=2)
pattern_texts = st.frozensets(st.sampled_from(["", "b", " a", "cat", "tab", " the"]), min_size=1, max_size=3)


def as_bytes(texts: Iterable[str]) -> frozenset[bytes]:
    return frozenset(text.encode() for text in texts)


@given(prefix_texts, pattern_texts, st.sampled_from(Encoding), st.sampled_from(Encoding))
@settings(max_examples=30)
def test_edits_shared_between_prefix_and_pattern(
    small: Tokenizer, prefix: frozenset[str], pattern: frozenset[str], first: Encoding, second: Encoding
) -> None:
    ways = one_edit_in_all(prefix, pattern, ALPHABET)
    made = written_language(ways)
    compiled = compile_query(
        Query("p", prefix="q", prefix_encoding=first, encoding=second), small, compiler=lambda *_: made
    )
    heads = [spellings(small, as_bytes(texts), first) for texts, _ in ways]
    tails = [spellings(small, as_bytes(texts), second, continues=True) for _, texts in ways]
    expected = {head + tail for way in range(2) for head in heads[way] for tail in tails[way]}
    assert_laws(compiled.automaton, most_states=25)
    token_paths = paths(compiled.automaton)
    assert len(token_paths) == len(set(token_paths))
    assert set(token_paths) == expected
    beginnings = {head[:end] for head in set().union(*heads) for end in range(len(head) + 1)}
    own_heads = [spellings(small, as_bytes(texts), Encoding.CANONICAL) for texts, _ in ways]
    own_tails = [spellings(small, as_bytes(texts), Encoding.CANONICAL, continues=True) for _, texts in ways]
    for path in token_paths[:: max(1, len(token_paths) // 40)]:
        assert compiled.accepts_tokens(path)
        assert compiled.accepts_text(small.decode(path))
        assert marks(compiled.automaton, path) == [path[: end + 1] in beginnings for end in range(len(path))]
        assert compiled.is_canonical(path, sum(marks(compiled.automaton, path))) == any(
            path[:end] in own_heads[way] and path[end:] in own_tails[way]
            for way in range(2)
            for end in range(len(path) + 1)
        )


@pytest.mark.parametrize("name", ["sentencepiece", "unigram"])
@pytest.mark.parametrize("encoding", list(Encoding))
def test_shared_edits_with_other_tokenizers(name: str, encoding: Encoding, monkeypatch: pytest.MonkeyPatch) -> None:
    """With patterns that are known ahead, and with patterns that the tokenizer confirms."""
    tokenizer = make(name)
    ways = one_edit_in_all(["or"], [" of"], "o ")
    made = written_language(ways)
    query = Query("p", prefix="q", prefix_encoding=encoding, encoding=encoding)
    heads = [spellings(tokenizer, as_bytes(texts), encoding) for texts, _ in ways]
    tails = [spellings(tokenizer, as_bytes(texts), encoding, continues=True) for _, texts in ways]
    expected = {head + tail for way in range(2) for head in heads[way] for tail in tails[way]}
    for most_strings in (5_000, -1):
        monkeypatch.setattr("relens.tokens.enumerated.MOST_STRINGS", most_strings)
        compiled = compile_query(query, tokenizer, compiler=lambda *_: made)
        assert_laws(compiled.automaton)
        assert set(paths(compiled.automaton)) == expected


def test_after_an_unedited_prefix_the_arrays_are_those_of_one_pattern(gpt2: Tokenizer) -> None:
    """The pattern of the first way contains that of the second, which is not begun as well."""
    ways = ((language("The cat"), language(" [a-z]+")), (language("The ca?t"), language(" [a-z]{1,20}")))
    made = Language(prefix=ways[1][0], pattern=ways[0][1], whole=language("The ca?t [a-z]+"), ways=ways)
    automaton = compile_query(Query("p", prefix="q"), gpt2, compiler=lambda *_: made).automaton

    def after(text: str) -> int:
        state = automaton.start
        for token in gpt2.encode(text):
            state = automaton.step(state, token)
        return state

    unedited, again = after("The cat sat"), after("The cat saying")
    assert automaton.arcs(unedited).tokens is automaton.arcs(again).tokens
    assert np.array_equal(automaton.destinations(unedited)[:50], automaton.destinations(unedited, 50)[:50])
    edited = automaton.step(automaton.step(after("The c"), gpt2.encode("t")[0]), gpt2.encode(" sat")[0])
    assert 0 < len(automaton.arcs(edited).tokens) < len(automaton.arcs(unedited).tokens)
    literal_end = after("The cat")
    assert not automaton.arcs(literal_end).in_prefix.any()


def test_a_way_that_cannot_be_spelled_leaves_the_others(smollm2: Tokenizer) -> None:
    made = written_language([(["a"], ["b", "b\x04"]), (["a", "ac"], ["\x04"])])
    compiled = compile_query(Query("p", prefix="q"), smollm2, compiler=lambda *_: made)
    assert {smollm2.decode(path) for path in paths(compiled.automaton)} == {"ab"}
    nothing = written_language([(["a"], ["\x04"]), (["\x04"], ["b"])])
    with pytest.raises(NoEncodingError):
        compile_query(Query("p", prefix="q"), smollm2, compiler=lambda *_: nothing)
