"""Exclusion where a match is found, against the same strings taken out ahead."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.query import Boundary, Edits, Encoding, Exclude, Query
from relens.tokens.compiled import CompiledQuery, compile_query
from relens.tokens.laws import assert_laws, paths
from relens.tokens.tokenizer import Tokenizer
from tests.engine.tokens.conftest import OTHERS
from tests.engine.tokens.written_out import one_edit_in_all, written_language

texts = st.frozensets(st.sampled_from(["", "a", "b", "ab", "ba", " a", "the", " the", "bb"]), min_size=1, max_size=4)
prefix_texts = st.frozensets(st.sampled_from(["a", "ab", "abb", "The"]), min_size=1, max_size=3)


def both_ways(query: Query, tokenizer: Tokenizer, ways, excluded) -> tuple[CompiledQuery, CompiledQuery]:
    """The query with the excluded strings taken out ahead, and with matches that are checked."""
    ahead, later = (written_language(ways, excluded, taken_out=taken_out) for taken_out in (True, False))
    return (
        compile_query(query, tokenizer, compiler=lambda *_: ahead),
        compile_query(query, tokenizer, compiler=lambda *_: later),
    )


@given(prefix_texts, texts, texts, st.sampled_from(Encoding), st.sampled_from(Boundary), st.booleans(), st.booleans())
@settings(max_examples=80)
def test_the_answer_is_that_of_the_difference(
    small: Tokenizer,
    prefix: frozenset[str],
    pattern: frozenset[str],
    excluded: frozenset[str],
    encoding: Encoding,
    boundary: Boundary,
    has_prefix: bool,
    has_edits: bool,
) -> None:
    prefix = prefix if has_prefix else frozenset([""])
    ways = one_edit_in_all(prefix, pattern, "a ") if has_prefix and has_edits else [(prefix, pattern)]
    if not all(tails - excluded for _, tails in ways):
        return
    query = Query("p", prefix="q" if has_prefix else "", encoding=encoding, prefix_encoding=encoding, boundary=boundary)
    ahead, later = both_ways(query, small, ways, excluded)
    assert later.automaton.needs_confirmation
    assert_laws(later.automaton, most_states=20)
    sequences = paths(later.automaton)
    assert sorted(sequences) == sorted(paths(ahead.automaton))
    every = {head + tail for heads, tails in ways for head in heads for tail in tails}
    for text in sorted(every | {text + "!" for text in every}):
        assert later.accepts_text(text) == ahead.accepts_text(text)
    for path in sequences[:30]:
        assert later.accepts_tokens(path)
        for marks in range(len(path) + 1):
            assert later.is_canonical(path, marks) == ahead.is_canonical(path, marks)


@pytest.mark.parametrize("name", ["sentencepiece", "unigram"])
@pytest.mark.parametrize("boundary", list(Boundary))
@pytest.mark.parametrize("encoding", list(Encoding))
def test_with_other_tokenizers(name: str, boundary: Boundary, encoding: Encoding) -> None:
    query = Query("p", prefix="q", encoding=encoding, prefix_encoding=encoding, boundary=boundary)
    ways = [({"The ", "The"}, {" of", "of", " or"})]
    ahead, later = both_ways(query, OTHERS[name](), ways, {" of", "or"})
    assert sorted(paths(later.automaton)) == sorted(paths(ahead.automaton))


def test_one_division_that_is_not_excluded_is_enough(small: Tokenizer) -> None:
    """The example of the module: `ab the` is `a` . `b the` as well."""
    ways = [({"a", "ab"}, {" the", "b the", " cat", "b cat"})]
    query = Query("p", prefix="q", boundary=Boundary.FREE, prefix_encoding=Encoding.ALL)
    _, free = both_ways(query, small, ways, {" the"})
    assert free.accepts_text("ab cat")
    assert not free.accepts_text("a the")
    assert free.accepts_text("ab the")
    assert not free.accepts_text("ab \ud800")
    _, split = both_ways(Query("p", prefix="q"), small, ways, {" the"})
    pair = small.encode("ab") + small.encode(" the")
    assert split.accepts_tokens(small.encode("a") + small.encode("b the"))
    assert split.accepts_tokens(pair) == (small.encode("a") + small.encode("b") == small.encode("ab"))


def test_sizes_and_notes_say_which_was_done(small: Tokenizer) -> None:
    query = Query("p", prefix="q", exclude=Exclude(words=("the",)))
    ahead, later = both_ways(query, small, [({"a"}, {"b", "the"})], {"the"})
    assert (ahead.sizes.strings, later.sizes.strings) == (1, None)
    assert ahead.notes == ("Excluded strings were taken out of the automaton.",)
    (note,) = later.notes
    assert "each match is checked" in note
    nothing_excluded, _ = both_ways(Query("p", prefix="q"), small, [({"a"}, {"b"})], ())
    assert nothing_excluded.notes == ()


def test_edits_of_a_prefix_that_is_not_there_are_noted(smollm2):
    nothing = compile_query(Query("cat", edits=Edits(1, "prefix")), smollm2)
    assert any("nothing is edited" in note for note in nothing.notes)
    assert not nothing.accepts_text("cut")
    assert not compile_query(Query("cat", prefix="a ", edits=Edits(1, "prefix")), smollm2).notes
