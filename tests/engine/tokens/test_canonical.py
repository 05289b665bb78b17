"""Canonical encodings against the tokenizer itself, and against a second construction."""

from __future__ import annotations

import functools
import os
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relens.errors import NoEncodingError
from relens.language.automaton import ByteAutomaton
from relens.query import Limits
from relens.tokens import canonical, enumerated
from relens.tokens.automaton import TokenAutomaton
from relens.tokens.byte_level import byte_level_tables
from relens.tokens.canonical import CanonicalAutomaton, canonical_encodings
from relens.tokens.canonical_by_retokenizing import ReencodedAutomaton
from relens.tokens.enumerated import EnumeratedAutomaton
from relens.tokens.laws import assert_laws, paths
from relens.tokens.tokenizer import Tokenizer
from tests.engine.tokens.helpers import (
    FINITE,
    KINDS,
    OPEN,
    encodable,
    encodings,
    ids_by_spelling,
    language,
    random_segmentation,
    random_string,
    strings,
)
from tests.engine.tokens.obligatory_merges import merged_paths

pytestmark = pytest.mark.heavy

#: The full check asks for 20,000: RELENS_STRINGS=20000.
STRINGS = int(os.environ.get("RELENS_STRINGS") or 2_000)

#: What any text may be, for languages made up by Hypothesis.
FRAGMENTS = ["a", "the", " ", " the", "'s", "\n", "é", "日", "1", "23", "!", "==", "'", "ing", "\r", "\t", "ſ", "S"]


@st.composite
def finite_patterns(draw: st.DrawFn) -> str:
    """A few alternatives in a row, some of them optional."""
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        choice = draw(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=3))
        parts.append("(" + "|".join(choice) + ")" + draw(st.sampled_from(["", "?", "{0,2}"])))
    return "".join(parts)


def exact(automaton: ByteAutomaton, tokenizer: Tokenizer) -> TokenAutomaton:
    exact_automaton = canonical_encodings(automaton, tokenizer, Limits())
    assert isinstance(exact_automaton, CanonicalAutomaton)
    assert not exact_automaton.may_have_dead_ends
    assert not exact_automaton.needs_confirmation
    return exact_automaton


@pytest.mark.parametrize("name", FINITE)
def test_paths_are_the_encodings(real: Tokenizer, name: str) -> None:
    automaton = language(FINITE[name])
    tokens = exact(automaton, real)
    assert_laws(tokens)
    sequences = paths(tokens)
    assert len(sequences) == len(set(sequences))
    assert set(sequences) == encodings(real, automaton)


@given(finite_patterns())
@settings(deadline=None, max_examples=40)
def test_paths_are_the_encodings_of_any_language(gpt2: Tokenizer, smollm2: Tokenizer, pattern: str) -> None:
    for tokenizer in (gpt2, smollm2):
        automaton = language(pattern)
        tokens = exact(automaton, tokenizer)
        assert_laws(tokens, most_states=20)
        assert sorted(paths(tokens)) == sorted(encodings(tokenizer, automaton))


@given(finite_patterns())
@settings(deadline=None, max_examples=80)
def test_small_vocabularies_have_more_refusals(small: Tokenizer, pattern: str) -> None:
    automaton = language(pattern)
    tokens = exact(automaton, small)
    assert_laws(tokens, most_states=40)
    assert sorted(paths(tokens)) == sorted(encodings(small, automaton))


def test_parallel_arcs_count_as_one_successor(small: Tokenizer) -> None:
    """Both guesses after `e` are arcs with the one token that may not follow `th`: that is a dead end."""
    assert_laws(exact(language("(s|t| the){0,2}"), small))


@pytest.mark.parametrize("name", ["white space", "contractions", "digits", "characters", "carriage returns"])
def test_every_pre_tokenizer(trained: Tokenizer, name: str) -> None:
    automaton = language(FINITE[name])
    tokens = exact(automaton, trained)
    assert_laws(tokens)
    assert sorted(paths(tokens)) == sorted(encodings(trained, automaton))


def test_any_text_or_none(real: Tokenizer) -> None:
    """Over all texts, the automaton accepts what the tokenizer gives and refuses every other segmentation."""
    tokens = exact(language("(?s:.*)"), real)
    assert_laws(tokens, most_states=10)
    spelled = {item: ids[0] for item, ids in ids_by_spelling(real.vocabulary.token_bytes).items()}
    source = random.Random(20)
    refused = 0
    for number in range(STRINGS):
        text = random_string(KINDS[number % len(KINDS)], source)
        encoded = real.encode(text)
        assert tokens.accepts(encoded) == encodable(real, text.encode()) or not encodable(real, text.encode())
        other = random_segmentation(spelled, text.encode(), source)
        if other is not None:
            assert tokens.accepts(other) == (other == encoded)
            refused += other != encoded
    assert refused > STRINGS // 4


@pytest.mark.parametrize("name", OPEN)
def test_paths_and_strings_are_as_many(real: Tokenizer, name: str) -> None:
    """In a cyclic language too: for each length in bytes, one canonical path for each string."""
    automaton = language(OPEN[name])
    tokens = exact(automaton, real)
    assert_laws(tokens, most_states=20)
    most = 2 if name == "letters" else 5
    lengths = [len(item or b"") for item in real.vocabulary.token_bytes]
    walks: list[dict[int, int]] = [{} for _ in range(most + 1)]
    walks[0][tokens.start] = 1
    counts = {0: 1}
    for length in range(most + 1):
        canonical_paths = sum(count for state, count in walks[length].items() if tokens.is_final(state))
        assert canonical_paths == sum(count for state, count in counts.items() if automaton.final[state])
        for state, count in walks[length].items():
            for token in tokens.arcs(state).tokens.tolist():
                if length + lengths[token] <= most:
                    row = walks[length + lengths[token]]
                    after = tokens.step(state, token)
                    row[after] = row.get(after, 0) + count
        longer: dict[int, int] = {}
        for state, count in counts.items():
            for after in automaton.transitions[state][automaton.transitions[state] >= 0].tolist():
                longer[after] = longer.get(after, 0) + count
        counts = longer


@pytest.mark.parametrize("name", ["literal", "the", "contractions", "lines", "repeated letters", "characters"])
def test_obligatory_merges_agree(real: Tokenizer, name: str) -> None:
    automaton = language(FINITE[name])
    assert sorted(paths(exact(automaton, real))) == sorted(merged_paths(automaton, real))


def test_prefix_marks(small: Tokenizer) -> None:
    automaton = language("The (cat|dog)s?")
    marked = ByteAutomaton(automaton.transitions, automaton.final, np.arange(automaton.states) < 5)
    tokens = exact(marked, small)
    for path in paths(tokens):
        state, spelled = tokens.start, b""
        for token in path:
            legal, in_prefix = tokens.arcs(state)
            spelled += small.vocabulary[token] or b""
            assert in_prefix[legal.searchsorted(token)] == marked.in_prefix[marked.run(spelled)]
            state = tokens.step(state, token)


# -- languages too large to annotate ------------------------------------------------------------------------------


@pytest.fixture
def nothing_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical, "MOST_ARCS", 0)


@pytest.mark.usefixtures("nothing_ahead")
@pytest.mark.parametrize("name", ["the", "white space", "contractions", "characters"])
def test_on_demand_it_is_the_same(real: Tokenizer, name: str) -> None:
    automaton = language(FINITE[name])
    tokens = canonical_encodings(automaton, real, Limits())
    assert isinstance(tokens, CanonicalAutomaton)
    assert tokens.may_have_dead_ends
    assert_laws(tokens)
    assert sorted(paths(tokens)) == sorted(encodings(real, automaton))


def test_a_large_language_is_not_worked_out_ahead(gpt2: Tokenizer) -> None:
    tokens = canonical_encodings(language("[a-zA-Z ]{1,100}"), gpt2, Limits())
    assert isinstance(tokens, CanonicalAutomaton)
    assert tokens.may_have_dead_ends
    for text in ("the", "a  b", "  the cat ", "x" * 100):
        encoded = gpt2.encode(text)
        assert tokens.accepts(encoded)
        assert not tokens.accepts([*encoded, encoded[-1]] if len(text) == 100 else encoded[:-1] + gpt2.encode("é"))


# -- ignore_merges, normalizers, added tokens, vocabularies that lack bytes ---------------------------------------


@pytest.mark.parametrize(
    "pattern",
    [
        "( cat| dog|cat|dog){0,3}",
        "(ao|e){0,5}",
        "(aoe|o){0,4}",
        "catdog",
        " catdog",
        "(catdog|dogcat)s?",
        "={0,5}",
        " {0,4}\n{0,2}",
        "é{0,3}|maxim| maxims?",
    ],
)
def test_whole_pre_tokens(ignoring_merges: Tokenizer, pattern: str) -> None:
    tables = byte_level_tables(ignoring_merges)
    assert tables is not None
    assert tables.whole.is_active
    automaton = language(pattern)
    tokens = exact(automaton, ignoring_merges)
    assert_laws(tokens)
    assert sorted(paths(tokens)) == sorted(encodings(ignoring_merges, automaton))


@functools.cache
def any_text(tokenizer: Tokenizer) -> TokenAutomaton:
    return exact(language("(?s:.*)"), tokenizer)


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=100)
def test_whole_pre_tokens_in_any_text(ignoring_merges: Tokenizer, seed: int) -> None:
    source = random.Random(seed)
    text = "".join(source.choice(["cat", "dog", "ao", "e", " ", "=", "\n", "maxim", "é", "s"]) for _ in range(6))
    tokens = any_text(ignoring_merges)
    encoded = ignoring_merges.encode(text)
    spelled = {item: ids[0] for item, ids in ids_by_spelling(ignoring_merges.vocabulary.token_bytes).items()}
    assert tokens.accepts(encoded)
    for _ in range(5):
        other = random_segmentation(spelled, text.encode(), source)
        assert other is not None
        assert tokens.accepts(other) == (other == encoded)


def test_normalized_texts_are_confirmed(nfc: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = canonical_encodings(language("(cat|dog){0,3}"), nfc, Limits())
    assert not plain.needs_confirmation, "NFC changes nothing below U+0300"
    automaton = language("(e|\u0301|é|a){0,3}")
    monkeypatch.setattr(enumerated, "MOST_STRINGS", -1)
    tokens = canonical_encodings(automaton, nfc, Limits())
    assert tokens.needs_confirmation
    expected = {
        tuple(nfc.encode(data.decode()))
        for data in strings(automaton)
        if nfc.decode_bytes(nfc.encode(data.decode())) == data
    }
    sequences = paths(tokens)
    assert len(sequences) == len(set(sequences))
    assert set(sequences) == expected
    assert len(sequences) < len(list(strings(automaton)))


def test_added_text_is_confirmed() -> None:
    import tokenizers

    from tests.engine.tokens.conftest import byte_level, train_byte_level, wrap

    backend: tokenizers.Tokenizer = train_byte_level(byte_level(), 350)
    backend.add_tokens(["<call>"])
    tokenizer = wrap(backend, "added")
    assert isinstance(canonical_encodings(language("(call|<|>)s?"), tokenizer, Limits()), CanonicalAutomaton)
    automaton = language("(a|<call>|<)s?")
    tokens = canonical_encodings(automaton, tokenizer, Limits())
    assert isinstance(tokens, EnumeratedAutomaton)
    assert set(paths(tokens)) == encodings(tokenizer, automaton)
    many = canonical_encodings(language("(a|<call>|<)*"), tokenizer, Limits())
    assert isinstance(many, ReencodedAutomaton)
    assert many.accepts(tokenizer.encode("a<<call>a"))


def test_strings_that_cannot_be_spelled(smollm2: Tokenizer) -> None:
    tokens = exact(language("a(\x04b|c\x04|d)"), smollm2)
    assert_laws(tokens)
    assert paths(tokens) == [tuple(smollm2.encode("ad"))]
    with pytest.raises(NoEncodingError):
        canonical_encodings(language("a\x04+"), smollm2, Limits())
