"""A prefix fixed to one string, against the sequences of the query that fit it, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.errors import NoEncodingError, QueryError
from relens.query import Boundary, Encoding, Query
from relens.tokens.compiled import CompiledQuery, compile_query
from relens.tokens.given_prefix import agreeing
from relens.tokens.laws import assert_laws, paths
from relens.tokens.tokenizer import Tokenizer
from relens.tokens.vocabulary import Vocabulary
from tests.engine.tokens.conftest import OTHERS
from tests.engine.tokens.helpers import marks, spellings
from tests.engine.tokens.written_out import one_edit_in_all, written_language

prefix_texts = st.frozensets(st.sampled_from(["", "a", "ab", "The ", "The", " a"]), min_size=1, max_size=3)
pattern_texts = st.frozensets(st.sampled_from(["", "b", " a", "cat", " the", "é"]), min_size=1, max_size=4)


def as_bytes(texts) -> frozenset[bytes]:
    return frozenset(text.encode() for text in texts)


def compiled_from(tokenizer: Tokenizer, ways, encoding: Encoding, boundary: Boundary) -> CompiledQuery:
    made = written_language(ways)
    query = Query("p", prefix="q", encoding=encoding, prefix_encoding=encoding, boundary=boundary)
    return compile_query(query, tokenizer, compiler=lambda *_: made)


def check_given(tokenizer: Tokenizer, ways, encoding: Encoding, boundary: Boundary) -> None:
    compiled = compiled_from(tokenizer, ways, encoding, boundary)
    texts = {head + tail for heads, tails in ways for head in heads for tail in tails}
    for text in sorted({head for heads, _ in ways for head in heads})[:12]:
        if boundary is Boundary.FREE:
            begins = frozenset(item for item in as_bytes(texts) if item.startswith(text.encode()))
            expected = {(path, 0) for path in spellings(tokenizer, begins, encoding)}
        else:
            tails = next(tails for heads, tails in ways if text in heads)
            expected = {
                (head + tail, len(head))
                for head in spellings(tokenizer, as_bytes([text]), encoding)
                for tail in spellings(tokenizer, as_bytes(tails), encoding, continues=True)
            }
        try:
            automaton = compiled.given(text)
        except NoEncodingError:
            assert not expected
            continue
        assert expected or automaton.needs_confirmation, "who knows that there is nothing says so"
        assert_laws(automaton, most_states=20)
        sequences = paths(automaton)
        assert len(sequences) == len(set(sequences))
        assert set(sequences) == {path for path, _ in expected}
        if boundary is Boundary.FREE:
            for path in sequences[:20]:
                ends = [tokenizer.decode_bytes(path[: end + 1]) for end in range(len(path))]
                is_within = [len(spelled) <= len(text.encode()) for spelled in ends]
                if text or not tokenizer.drops_first_space:
                    assert marks(automaton, path) == is_within
        elif not automaton.needs_confirmation:
            heads = {path[:end] for path, size in expected for end in range(size + 1)}
            for path in sequences[:20]:
                assert marks(automaton, path) == [path[: end + 1] in heads for end in range(len(path))]


@given(prefix_texts, pattern_texts, st.sampled_from(Encoding), st.sampled_from(Boundary), st.booleans())
@settings(max_examples=60)
def test_given_one_string_of_the_prefix(
    small: Tokenizer,
    prefix: frozenset[str],
    pattern: frozenset[str],
    encoding: Encoding,
    boundary: Boundary,
    has_edits: bool,
) -> None:
    ways = one_edit_in_all(prefix, pattern, "b ") if has_edits else [(prefix, pattern)]
    check_given(small, ways, encoding, boundary)


@pytest.mark.parametrize("name", sorted(OTHERS))
@pytest.mark.parametrize("boundary", list(Boundary))
@pytest.mark.parametrize("encoding", list(Encoding))
@pytest.mark.parametrize("most_strings", [5_000, -1])
def test_tokenizers_that_put_a_space_first(
    name: str, boundary: Boundary, encoding: Encoding, most_strings: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relens.tokens.enumerated.MOST_STRINGS", most_strings)
    tokenizer = OTHERS[name]()
    check_given(tokenizer, [({"the", "or", "the ", " o", ""}, {"cat", " of", " or", "the"})], encoding, boundary)


@pytest.mark.parametrize("boundary", list(Boundary))
@pytest.mark.parametrize("encoding", list(Encoding))
def test_real_vocabularies(real: Tokenizer, boundary: Boundary, encoding: Encoding) -> None:
    ways = [({"The ca", "The ", "The cat"}, {"t sat", "cat", " sat", "ts"})]
    check_given(real, ways, encoding, boundary)


def test_a_token_that_agrees_and_leads_nowhere_is_not_legal(gpt2: Tokenizer) -> None:
    """Of ` cat` and ` catalogue` the canonical tokens begin apart; given ` cata`, the token ` cat` leads nowhere."""
    compiled = compiled_from(gpt2, [({" cat", " cata"}, {"", "logue"})], Encoding.CANONICAL, Boundary.FREE)
    assert compiled.automaton.step(compiled.automaton.start, gpt2.encode(" cat")[0]) >= 0
    automaton = compiled.given(" cata")
    assert automaton.step(automaton.start, gpt2.encode(" cat")[0]) == -1
    assert set(paths(automaton)) == {tuple(gpt2.encode(" cata")), tuple(gpt2.encode(" catalogue"))}
    assert_laws(automaton)


def test_an_open_pattern_goes_on_as_the_whole_does(gpt2: Tokenizer) -> None:
    query = Query("[a-z]*( .*)?", prefix="The ca|The cat", boundary=Boundary.FREE, prefix_encoding=Encoding.ALL)
    compiled = compile_query(query, gpt2)
    automaton = compiled.given("The ca")
    assert_laws(automaton, most_states=20)
    state, whole = automaton.start, compiled.automaton.start
    for token in gpt2.encode("The cat"):
        state, whole = automaton.step(state, token), compiled.automaton.step(whole, token)
    assert np.array_equal(automaton.arcs(state).tokens, compiled.automaton.arcs(whole).tokens)
    assert not automaton.arcs(state).in_prefix.any()
    assert automaton.accepts(gpt2.encode("The cats sat"))
    assert not automaton.accepts(gpt2.encode("The cow sat"))


def test_the_pattern_is_made_once(gpt2: Tokenizer) -> None:
    compiled = compile_query(Query(" [a-z]+", prefix="The (cat|dog)", encoding=Encoding.CANONICAL), gpt2)

    def begin(text: str):
        automaton = compiled.given(text)
        state = automaton.start
        for token in gpt2.encode(text):
            state = automaton.step(state, token)
        return automaton.arcs(state).tokens

    assert begin("The cat") is begin("The dog")


def test_strings_outside_the_prefix_are_refused(gpt2: Tokenizer, smollm2: Tokenizer) -> None:
    compiled = compile_query(Query("b", prefix="a[x\x04]"), smollm2)
    with pytest.raises(QueryError, match="'ab' is not a string of the prefix"):
        compiled.given("ab")
    for encoding in Encoding:
        for boundary in Boundary:
            query = Query("b", prefix="a[x\x04]", encoding=encoding, prefix_encoding=encoding, boundary=boundary)
            with pytest.raises(NoEncodingError):
                compile_query(query, smollm2).given("a\x04")
    bare = compile_query(Query("ab"), gpt2)
    assert bare.given("") is bare.automaton
    with pytest.raises(QueryError):
        bare.given("a")


@pytest.mark.parametrize("encoding", list(Encoding))
def test_paths_of_all_prefixes(small: Tokenizer, encoding: Encoding) -> None:
    compiled = compile_query(Query("c", prefix="a|b{1,3}", prefix_encoding=encoding), small)
    automaton = compiled.prefix_paths()
    assert automaton is not None
    assert set(paths(automaton)) == spellings(small, as_bytes(["a", "b", "bb", "bbb"]), encoding)
    assert compile_query(Query("c"), small).prefix_paths() is None


@given(st.lists(st.none() | st.binary(max_size=3).filter(bool), max_size=30), st.binary(max_size=4))
def test_agreeing_tokens(token_bytes: list[bytes | None], data: bytes) -> None:
    agreement = agreeing(Vocabulary(token_bytes).trie, data)
    spelled = {token: item for token, item in enumerate(token_bytes) if item}
    assert agreement.within == {token: len(item) for token, item in spelled.items() if data.startswith(item)}
    assert agreement.beyond.tolist() == [
        token for token, item in spelled.items() if item.startswith(data) and len(item) > len(data)
    ]
