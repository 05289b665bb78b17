"""Words in texts, exact and with one edit, against regular expressions that list every form of them."""

from __future__ import annotations

import random
import re
import sys
import time
import tracemalloc

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relens.studies import masking
from relens.studies.masking import Masker, folded
from relens.studies.near_words import NearWords
from relens.studies.word_lists import MILD_WORDS
from tests.engine.studies.masked_by_re import masked_by_re
from tests.examples import examples
from tests.steps import longest_call

pytestmark = pytest.mark.heavy

#: Few characters, so that words and texts meet: letters with several capitals, signs that are part of no word.
CLOSE = "aab-'’ "
STRANGE = "aAsSſkKKiIİıßẞσςΣµμ_1·-’' \n.!é\u0301\U0001d4b6"


def near_text(words: list[str], pieces: list[str]) -> str:
    return "".join(word for pair in zip(words, pieces, strict=False) for word in pair)


@st.composite
def words_and_text(draw: st.DrawFn, alphabet: str) -> tuple[list[str], str]:
    """Words, and a text of them with what a person may have changed in each."""
    words = draw(st.lists(st.text(alphabet, max_size=7), max_size=5))
    letters = st.text(alphabet, max_size=2)
    pieces = []
    for _ in range(draw(st.integers(0, 6))):
        word = draw(st.sampled_from(words)) if words else ""
        place = draw(st.integers(0, len(word)))
        gone = draw(st.integers(0, 2))
        pieces += [word[:place], draw(letters), word[place + gone :], draw(letters)]
    return words, "".join(pieces)


@settings(max_examples=examples(600), deadline=None)
@given(words_and_text(CLOSE))
@example((["idiot", "idio"], "idio. idio"))
@example((["aaaa", "aaa", "aa"], "aaaaa aaa- aa"))
def test_every_form_of_every_word_is_found_as_by_re(made):
    words, text = made
    assert Masker(words)(text) == masked_by_re(words, text)


@settings(max_examples=examples(600), deadline=None)
@given(words_and_text(STRANGE))
def test_letters_with_several_capitals_too(made):
    words, text = made
    assert Masker(words)(text) == masked_by_re(words, text)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.text(max_size=6), max_size=4), st.text(max_size=40))
def test_any_text_at_all(words, text):
    assert Masker(words)(text) == masked_by_re(words, text)


@pytest.mark.parametrize("seed", range(5))
def test_many_words_and_many_characters(seed):
    """With more characters than are kept from one text to the next."""
    rng = random.Random(seed)
    alphabet = [chr(0x4E00 + number) for number in range(3_000)]
    words = ["".join(rng.choices(alphabet, k=rng.randint(2, 6))) for _ in range(1_500)]
    pieces = [word[:place] + rng.choice(["", "x", *alphabet]) + word[place + rng.randint(0, 1) :]
              for word in rng.sample(words, 300) for place in [rng.randint(0, len(word))]]  # fmt: skip
    text = "".join(piece + rng.choice([" ", "", "-"]) for piece in pieces)
    assert Masker(words)(text) == masked_by_re(words, text)


def test_characters_are_the_same_where_they_are_for_re():
    everything = [chr(code) for code in range(sys.maxunicode + 1)]
    assert all(len(folded(character)) == 1 for character in everything)
    # Those that some mapping of letter case has to do with; for all others both are the character itself.
    cased = [one for one in everything if one.lower() != one or one.upper() != one or folded(one) != one]
    same: dict[str, str] = {}
    for character in cased:
        same[folded(character)] = same.get(folded(character), "") + character
    line = "".join(cased)
    for character in cased:
        if character not in "'’":  # either of which is written for the other, which `re` knows nothing of
            assert "".join(re.findall(re.escape(character), line, re.IGNORECASE)) == same[folded(character)]


WORDS = {
    "prose": [*MILD_WORDS, *(f"word{number}" for number in range(1_000))],
    "the same letter": ["a" * length for length in range(1, 41)] * 25,
    "beginnings that all agree": ["a" * 34 + f"{number:05d}b" for number in range(1_000)],
    "hyphens": ["-".join("ab"[number >> bit & 1] for bit in range(20)) for number in range(1_000)],
}
TEXTS = {
    "prose": "You are such an id*iot, she said; a fool is no loser. " * 8_000,
    "one letter": "a" * 400_000,
    "one letter, cut by hyphens": "a-" * 200_000,
    "no letters": "!" * 400_000,
    "two letters": "-".join("ab"[number * number // 7 % 2] for number in range(200_000)),
    "capital letters": "A-B" * 133_000,
}


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("text", TEXTS)
def test_no_single_step_takes_long(words, text):
    masker = Masker(WORDS[words])
    assert min(longest_call(masker, TEXTS[text][:20_000]) for _ in range(2)) < 0.1


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("text", TEXTS)
def test_time_grows_as_the_text_does(words, text):
    masker = Masker(WORDS[words])

    def seconds(length: int) -> float:
        begun = time.thread_time()
        masker(TEXTS[text][:length])
        return time.thread_time() - begun

    assert any(seconds(16_000) < 10 * max(seconds(4_000), 0.01) for _ in range(4))


def test_time_does_not_depend_on_how_close_words_and_text_come():
    """A text of beginnings and ends of the words, none of them a match, against one that has nothing of them."""
    words = [f"{'ab' * 9}{number:05d}" for number in range(1_000)] + [
        f"{number:05d}{'ab' * 9}" for number in range(1_000)
    ]
    masker = Masker(words)

    def seconds(text: str) -> float:
        begun = time.thread_time()
        masker(text)
        return time.thread_time() - begun

    close, far = "ab-" * 10_000, "xy-" * 10_000
    assert any(seconds(close) < 10 * seconds(far) for _ in range(4))


def test_a_long_text_is_read_to_a_limit_and_hidden_behind_it(monkeypatch):
    monkeypatch.setattr(masking, "LONGEST_TEXT", 30)
    masker = Masker(["idiot"])
    assert masker("An idiot. " * 3) == "An i····. " * 3
    assert masker("An idiot. " * 4) == "An i····. An i····. An i····· ·· ······ "
    for length in range(25, 45):
        shown = masker("x" * (length - 25) + " idiot idiot idiot idiot")
        assert len(shown) == length - 1
        assert "id" not in shown


def test_with_too_many_words_every_word_is_masked(monkeypatch):
    monkeypatch.setattr(masking, "MOST_CHARACTERS", 100)
    assert Masker(["a" * 101])("Oh, you idiot!") == "O·, y·· i····!"
    assert Masker(["a" * 100])("Oh, you idiot!") == "Oh, you idiot!"


def test_words_cost_memory_in_proportion_to_their_length():
    words = [f"{chr(0x4E00 + number)}{chr(0x4E01 + number)}{number}" for number in range(4_000)]
    tracemalloc.start()
    near = NearWords(words)
    list(near.spans(" ".join(words), " ".join(words)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40_000_000
