"""Tokenizers that the exact construction does not cover: the accepted language is exact all the same."""

from __future__ import annotations

import random

import pytest

from relens.query import Limits
from relens.tokens import enumerated
from relens.tokens.byte_level import byte_level_tables
from relens.tokens.canonical import canonical_encodings
from relens.tokens.canonical_by_retokenizing import PrunedAutomaton, pruned
from relens.tokens.encodings import all_encodings
from relens.tokens.laws import assert_laws, paths
from relens.tokens.text_start import with_dropped_space
from relens.tokens.tokenizer import WORDPIECE, Tokenizer
from tests.engine.tokens.conftest import OTHERS
from tests.engine.tokens.helpers import PROSE, encodings, ids_by_spelling, language, random_segmentation, strings


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small languages are encoded string by string elsewhere; here all are held for large."""
    monkeypatch.setattr(enumerated, "MOST_STRINGS", -1)


PATTERNS = ["cat|dog", "(The )?(cat|dog)s?", "(the|peace|press| or)(s|ably)?", "(a| ){0,4}", "right|rights of"]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("continues", [False, True])
def test_paths_are_the_encodings(other: Tokenizer, pattern: str, continues: bool) -> None:
    assert byte_level_tables(other) is None
    automaton = language(pattern)
    tokens = canonical_encodings(automaton, other, Limits(), continues)
    assert tokens.needs_confirmation
    assert_laws(tokens)
    sequences = paths(tokens)
    assert len(sequences) == len(set(sequences))
    assert set(sequences) == encodings(other, automaton, continues)


def test_bytes_where_a_character_is_missing() -> None:
    tokenizer = OTHERS["sentencepiece"]()
    automaton = language("(cat|日|é){1,2}")
    tokens = canonical_encodings(automaton, tokenizer, Limits())
    assert set(paths(tokens)) == encodings(tokenizer, automaton)
    assert len(paths(tokens)) == len(list(strings(automaton)))


def test_words_join_in_wordpiece() -> None:
    tokenizer = OTHERS["wordpiece"]()
    assert tokenizer.family == WORDPIECE
    tokens = canonical_encodings(language("the (cat|dogs)"), tokenizer, Limits())
    assert {tokenizer.decode(path) for path in paths(tokens)} == {"the cat", "the dogs"}


@pytest.mark.parametrize("pattern", ["", "a", "( |a|b){0,3}", " +"])
def test_a_dropped_first_space(pattern: str) -> None:
    """What tokens may spell: the strings that begin with no space, and every string with a space put first."""
    automaton = language(pattern)
    spelled = with_dropped_space(automaton)
    texts = ["", "a", "b", " ", "  ", " a", "a ", "  a", " a ", "   ", "ab", "    "]
    for data in map(str.encode, texts):
        decoded = data[1:] if data.startswith(b" ") else data
        assert spelled.accepts(data) == automaton.accepts(decoded)


@pytest.mark.parametrize("name", ["sentencepiece", "metaspace"])
def test_pruning_loses_no_encoding(name: str) -> None:
    """For random texts: no encoding is pruned away, and most other segmentations are, before they are checked."""
    tokenizer = OTHERS[name]()
    walked = all_encodings(language("(?s:.*)"), tokenizer.vocabulary, 10**8)
    tokens = pruned(walked, tokenizer)
    assert isinstance(tokens, PrunedAutomaton)
    assert_laws(tokens)
    spelled = {item: ids[0] for item, ids in ids_by_spelling(tokenizer.vocabulary.token_bytes).items()}
    source = random.Random(9)
    tried = passed = 0
    for _ in range(300):
        begin = source.randrange(len(PROSE) - 40)
        text = PROSE[begin : begin + source.randint(1, 40)].replace("\n", " ")
        encoded = tokenizer.encode(text)
        if tokenizer.is_canonical(encoded):
            assert tokens.accepts(encoded)
        other = random_segmentation(spelled, b" " + text.encode(), source)
        if other is not None and other != encoded:
            tried += 1
            passed += tokens.accepts(other)
    assert tried > 100
    assert passed < tried / 4
