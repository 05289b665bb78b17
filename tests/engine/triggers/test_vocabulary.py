"""Words and their numbers: against counting by hand, and whatever somebody may write."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import QueryError
from engine.triggers.vocabulary import FORBIDDEN, PAD, SPECIAL_WORDS, UNKNOWN, WordVocabulary

SENTENCES = st.lists(st.lists(st.sampled_from([*"abcdefg", *SPECIAL_WORDS]), max_size=6), max_size=8)


def test_words_have_their_rank_as_number():
    vocabulary = WordVocabulary.of_sentences([("b", "a", "b"), ("c", "a", "b"), ("<s>", "<s>", "d")], size=8)
    assert vocabulary.words == (*SPECIAL_WORDS, "b", "a", "c")
    assert vocabulary.ids(("a", "d", "b")) == [6, UNKNOWN, 5]
    assert vocabulary.words_of([5, 0, 7]) == ("b", "</s>", "c")
    assert vocabulary.unknown(("d", "a", "e", "d", "<unk>")) == ("d", "e", "<unk>")


@given(SENTENCES, st.integers(6, 14))
def test_a_vocabulary_has_the_most_frequent_words(sentences, size):
    counts = Counter(word for sentence in sentences for word in sentence if word not in SPECIAL_WORDS)
    if not counts:
        with pytest.raises(QueryError, match="no word to learn"):
            WordVocabulary.of_sentences(sentences, size)
        return
    vocabulary = WordVocabulary.of_sentences(sentences, size)
    own = vocabulary.words[len(SPECIAL_WORDS) :]
    assert len(vocabulary) == min(size, len(SPECIAL_WORDS) + len(counts))
    assert sorted((counts[word] for word in own), reverse=True) == [counts[word] for word in own]
    assert all(counts[left_out] <= counts[own[-1]] for left_out in set(counts) - set(own))


@given(st.lists(st.text(max_size=8)))
def test_no_text_becomes_a_special_id(words):
    vocabulary = WordVocabulary((*SPECIAL_WORDS, "a", "b"))
    ids = vocabulary.ids([*words, *SPECIAL_WORDS])
    assert not set(ids) & set(FORBIDDEN)
    assert ids[-len(SPECIAL_WORDS) :] == [UNKNOWN] * len(SPECIAL_WORDS)


def test_a_vocabulary_survives_json_and_has_a_name_of_its_own():
    vocabulary = WordVocabulary((*SPECIAL_WORDS, "a", "b"))
    again = WordVocabulary.from_json(json.loads(json.dumps(vocabulary.to_json())))
    assert again == vocabulary
    assert again.fingerprint == vocabulary.fingerprint
    assert WordVocabulary((*SPECIAL_WORDS, "b", "a")).fingerprint != vocabulary.fingerprint


@pytest.mark.parametrize(
    "words",
    [
        (),
        SPECIAL_WORDS,
        ("a", *SPECIAL_WORDS),
        (*SPECIAL_WORDS, "a", "a"),
        (*SPECIAL_WORDS, "<pad>"),
        (*SPECIAL_WORDS, "two words"),
        (*SPECIAL_WORDS, ""),
        (*SPECIAL_WORDS, "x" * 101),
    ],
)
def test_other_lists_are_refused(words):
    with pytest.raises(QueryError):
        WordVocabulary(words)


def test_no_room_and_no_such_id_are_said():
    with pytest.raises(QueryError, match="not 5"):
        WordVocabulary.of_sentences([("a",)], size=5)
    vocabulary = WordVocabulary((*SPECIAL_WORDS, "a"))
    for number in (-1, 6):
        with pytest.raises(QueryError, match="below 6"):
            vocabulary.words_of([PAD, number])
