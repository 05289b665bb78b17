"""The task of characters: words as in the Treebank, symbols by frequency, noise on both sides, and the four lists."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.errors import QueryError
from relens.triggers.brute_force.character_lists import character_targets, own_phrases, read_phrases
from relens.triggers.model.characters import CharacterText, input_symbols, noisy_pairs, spelled_out, treebank_words
from relens.triggers.model.vocabulary import END, PAD, SPECIAL_WORDS, UNKNOWN, WordVocabulary, words_of_text

LETTERS = WordVocabulary((*SPECIAL_WORDS, *"abcdefghijklmnopqrstuvwxyz"))


def test_words_are_brought_to_the_form_of_the_treebank():
    words = words_of_text("It's 1,000.50 dollars -- <unk> won't pay, at 4:30!")
    assert treebank_words(words) == ("it", "'s", "n", "dollars", "<unk>", "wo", "n't", "pay", "at", "n")
    assert treebank_words(["...", "b2b", "7"]) == ("b2b", "n")


def test_rare_words_and_symbols():
    train = [("a", "cat", "a", "dog"), ("a", "cat", "ran")]
    text = CharacterText.of_sentences("toy", train, [("a", "bird")], 2)
    assert text.train == (("a", "cat", "a", "<unk>"), ("a", "cat", "<unk>"))
    assert text.test == (("a", "<unk>"),)
    assert text.words == ("<unk>", "a", "cat")
    characters = Counter("acata<unk>acat<unk>")
    vocabulary = text.vocabulary(4)
    assert vocabulary.words[5:] == tuple(sorted(characters, key=lambda symbol: (-characters[symbol], symbol))[:4])
    assert input_symbols(vocabulary) == (UNKNOWN, 5, 6, 7, 8)
    assert text.fingerprint != CharacterText.of_sentences("toy", train, [("a", "fish", "a")], 2).fingerprint
    for parts, what in (([("a",)], [("b", "c")]), "train"), (([("a", "b")], [("c",)]), "test"):
        with pytest.raises(QueryError, match=what):
            CharacterText.of_sentences("toy", *parts, 5)


@given(st.lists(st.text("abcdefg", min_size=1, max_size=8), min_size=2, max_size=30), st.integers(0, 5))
def test_noise_changes_one_symbol_at_most_and_the_same_on_both_sides(words, seed):
    pairs = list(noisy_pairs(LETTERS, [tuple(words)], seed))
    assert len(pairs) == len(words) - 1
    for (_, following), (word, _) in pairwise(pairs):
        assert following == word
    for (row, _), word in zip(pairs, words, strict=False):
        changed = [place for place, number in enumerate(LETTERS.ids(word)) if number != row[place]]
        assert len(row) == len(word)
        assert len(changed) <= 1
        assert min(row) >= len(SPECIAL_WORDS)
    plain = list(noisy_pairs(LETTERS, [tuple(words)], seed, share=0.0))
    assert [row for row, _ in plain] == [LETTERS.ids(word) for word in words[:-1]]
    always = [row for row, _ in noisy_pairs(LETTERS, [tuple(words)], seed, share=1.0)]
    assert all(row != LETTERS.ids(word) for row, word in zip(always, words[:-1], strict=True))


def test_half_of_the_words_have_noise():
    words = ("word",) * 4001
    noisy = sum(row != LETTERS.ids("word") for row, _ in noisy_pairs(LETTERS, [words], 1))
    assert 1800 < noisy < 2200  # six standard deviations


def test_symbols_are_spelled_out_up_to_the_end():
    assert spelled_out(LETTERS, [5, 6, END, 7]) == "a b"
    assert spelled_out(LETTERS, [PAD, UNKNOWN, 5]) == "<pad> <unk> a"
    assert spelled_out(LETTERS, [END]) == ""


def test_the_four_lists():
    words = ("cat", "tac", "level", "dogs", "extraordinary", "caf\u00e9", "<unk>")
    lists = character_targets(LETTERS, words, random_count=200, seed=3)
    assert lists["normal"] == ("cat", "tac", "level", "dogs", "extraordin")
    assert lists["reversed"] == ("sgod", "nidroartxe")
    assert len(lists["random"]) == len(set(lists["random"])) == 200
    assert all(re.fullmatch(r"([a-z]{2,4})\1+", target) and len(target) <= 10 for target in lists["random"])
    assert {"goaway", "hateyou"} <= set(lists["mal"])
    assert all(re.fullmatch("[a-z]{2,10}", target) for target in lists["mal"])
    assert character_targets(LETTERS, words, ["shutup", "cat", "123"])["mal"] == ("shutup",)
    assert character_targets(LETTERS, words, random_count=0, shortest_reversed=5)["reversed"] == ("nidroartxe",)
    few = character_targets(WordVocabulary((*SPECIAL_WORDS, "a")), ("a",), random_count=5)
    assert few["random"] == ()


def test_own_phrases_are_at_least_as_many_as_in_the_paper(tmp_path):
    assert len(own_phrases()) == len(set(own_phrases())) >= 500
    (tmp_path / "mine.txt").write_text("# mine\nGo to bed\n")
    assert read_phrases(tmp_path / "mine.txt") == ("gotobed",)
