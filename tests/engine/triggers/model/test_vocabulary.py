"""Text to words: the examples of the Penn Treebank, nothing lost or cut twice. Words to numbers: against counts."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.errors import QueryError
from relens.triggers.model.vocabulary import (
    FORBIDDEN,
    PAD,
    SPECIAL_WORDS,
    UNKNOWN,
    WordVocabulary,
    words_of_cut_text,
    words_of_text,
)

SENTENCES = st.lists(st.lists(st.sampled_from([*"abcdefg", *SPECIAL_WORDS]), max_size=6), max_size=8)
TEXTS = st.text(
    st.sampled_from(list("abcdent sd'n.!?,-_<>/:1 2\t\n\"()é’U…@&+")) | st.characters(codec="utf-8"), max_size=40
) | st.lists(st.sampled_from(["don't", "n't", "'s", "it's", "u.s.", "a.b", "www.a.org", "<unk>", "1,0"])).map("".join)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't", "do n't"),
        ("CAN'T won’t isn't", "ca n't wo n't is n't"),
        ("I'm he's they're we've she'll you'd", "i 'm he 's they 're we 've she 'll you 'd"),
        ("the dogs' o'clock rock'n'roll", "the dogs ' o'clock rock'n'roll"),
        ("shouldn't've", "should n't 've"),
        ("Well... what?! No--never!!", "well ... what ? ! no -- never !!"),
        ("1,000.50 at 4:30 (maybe), 3.", "1,000.50 at 4:30 ( maybe ) , 3 ."),
        ("a well-known U.S. film, e.g. this", "a well-known u.s. film , e.g. this"),
        ("see http://a.org/b?c=1, or www.b.com.", "see http://a.org/b?c=1 , or www.b.com ."),
        ("nigeria,and this.That", "nigeria , and this . that"),
        ("“quoted” – dash…", '" quoted " - dash ...'),
        ("<unk> <eou> <3", "<unk> <eou> < 3"),
        (" \n\t ", ""),
        ("", ""),
    ],
)
def test_texts_are_cut_as_in_the_treebank(text, words):
    assert " ".join(words_of_text(text)) == words


def test_a_long_line_of_dotted_letters_takes_no_longer_than_others():
    # Time squared would be minutes here.
    assert words_of_text("a." * 100_000 + "ab") == (*["a", "."] * 100_000, "ab")


@given(TEXTS)
def test_cut_text_stays_as_it_is(text):
    words = words_of_text(text)
    assert words_of_text(" ".join(words)) == words
    assert words_of_cut_text(" ".join(words)) == words


@given(st.text(st.sampled_from(list("abcdent sd'n.!?,-<>/:12\t\n\"()é@&+")), max_size=60))
def test_only_blanks_are_lost(text):
    assert "".join(words_of_text(text)) == "".join(text.split()).lower()


def test_a_hostile_text_takes_no_longer_than_its_length_asks_for():
    for piece in ("n't", "a-", "a'", "1,", "a.", "'", "www.", "www.,", "<a", "nn'", "a-n"):
        assert words_of_text(piece * 3_000) is not None


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


def test_no_room_and_unknown_ids_are_refused():
    with pytest.raises(QueryError, match="not 5"):
        WordVocabulary.of_sentences([("a",)], size=5)
    vocabulary = WordVocabulary((*SPECIAL_WORDS, "a"))
    for number in (-1, 6):
        with pytest.raises(QueryError, match="below 6"):
            vocabulary.words_of([PAD, number])
