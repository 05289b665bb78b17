from __future__ import annotations

import random
import re
import string
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from relens.errors import EmptyLanguageError, LimitError, RegexError
from relens.language import exclusion
from relens.language.compile import compile_language, compile_regex
from relens.language.exclusion import difference, excluded_strings
from relens.language.language import Language
from relens.language.stop_words import STOP_WORDS
from relens.query import Edits, Exclude, Limits, Query
from tests.engine.language.brute_force import edited_strings, strings_of, strings_over
from tests.engine.language.derivatives import minimal_table

CASES = [
    ("a|b|ab", "a"), ("[ab]*", "(ab)*"), ("[ab]*", ".*aa.*"), ("[ab]{0,4}", "[ab]*a[ab]"), ("a*", "(aaa)*"),
    ("é|e|€", "[é-ü]"), (".", r"\w"), ("(a|b)*c?", ".*c"), ("a", "b"), ("[ab]*", "()"), (r"\w*", "[^a]*"),
    ("(?s:.)*", ".*"), ("ab*", "a|ab|abb*b"),
]  # fmt: skip
TEXTS = strings_over("abcé\n", 4)


def emitted(language: Language, text: str) -> bool:
    """Whether a text without prefix is emitted: matched and not excluded."""
    return language.whole.accepts(text) and not (language.excluded is not None and language.excluded.accepts(text))


@pytest.mark.parametrize(("pattern", "excluded"), CASES)
def test_the_difference_is_that_of_fullmatch(pattern: str, excluded: str):
    automaton = excluded_strings(Exclude(regex=excluded), Limits())
    assert automaton is not None
    rest = difference(compile_regex(pattern), automaton, Limits())
    assert rest is not None
    for text in TEXTS:
        expected = re.fullmatch(pattern, text) is not None and re.fullmatch(excluded, text) is None
        assert rest.accepts(text) == expected, text


def test_the_difference_is_minimal():
    rest = compile_language(Query("[ab]*", exclude=Exclude(regex="[ab]*a[ab]"))).pattern
    transitions, final = minimal_table("([ab]*b)?[ab]|")
    assert np.array_equal(rest.transitions, transitions)
    assert np.array_equal(rest.final, final)
    # Nothing is excluded: the automaton is the same.
    same = compile_language(Query("(cat|dog)s?", exclude=Exclude(regex="bird"))).pattern
    assert np.array_equal(same.transitions, compile_regex("(cat|dog)s?").transitions)


small_patterns = st.recursive(
    st.sampled_from(["a", "b", "é", "[ab]", "[^a]", ".", ""]),
    lambda inner: st.one_of(
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}){}".format, inner, st.sampled_from(["*", "+", "?", "{2}"])),
    ),
    max_leaves=5,
)


@given(
    pattern=small_patterns,
    excluded=small_patterns,
    words=st.lists(st.sampled_from(["a", "B", "É", "aé"]), max_size=2),
    distance=st.integers(0, 1),
)
def test_ahead_or_at_emission_the_same_strings_are_left(pattern: str, excluded: str, words: list[str], distance: int):
    exclude = Exclude(regex=excluded, words=tuple(words))
    assume(exclude)
    query = Query(pattern, edits=Edits(distance, alphabet="[abé]"), exclude=exclude)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exclusion, "MOST_WORK", 0)
        at_emission = compile_language(query)
    left = [text for text in TEXTS if emitted(at_emission, text)]
    try:
        ahead = compile_language(query)
    except EmptyLanguageError:
        assert not left
        return
    assert ahead.excluded is None
    assert at_emission.excluded is not None
    assert [text for text in TEXTS if emitted(ahead, text)] == left


@pytest.mark.parametrize("most_work", [0, 10**6])
@pytest.mark.parametrize("where", ["prefix", "pattern", "both"])
def test_patterns_are_edited_and_then_excluded(where: str, most_work: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exclusion, "MOST_WORK", most_work)
    words, endings = ["ab", "c"], ["d", "bd"]
    query = Query("b?d", prefix="ab|c", edits=Edits(1, where, alphabet="[a-d]"), exclude=Exclude(regex="[bd]+"))
    if where == "prefix" and most_work:
        with pytest.raises(EmptyLanguageError):
            compile_language(query)
        return
    language = compile_language(query)
    assert (language.excluded is None) == (most_work > 0)
    shares = {"prefix": [(1, 0)], "pattern": [(0, 1)], "both": [(0, 1), (1, 0)]}[where]
    expected, expected_ways = set(), []
    for in_prefix, in_pattern in shares:
        befores = edited_strings(words, in_prefix, "abcd")
        afters = edited_strings(endings, in_pattern, "abcd")
        if most_work:
            afters = {after for after in afters if not re.fullmatch("[bd]+", after)}
        if afters:  # within no edits everything is excluded, and there is no such way
            expected_ways.append((befores, afters))
        expected |= {before + after for before in befores for after in afters}
    assert [(strings_of(prefix), strings_of(pattern)) for prefix, pattern in language.ways] == expected_ways
    assert strings_of(language.whole) == expected
    assert strings_of(language.prefix) == expected_ways[-1][0]
    assert strings_of(language.pattern) == expected_ways[0][1]


def bare(text: str) -> str:
    return text.strip(string.whitespace + string.punctuation).lower()


@pytest.mark.parametrize("exclude", [Exclude(words=("The", " cat ", "don't")), Exclude(stop_words=True)])
def test_words_stand_alone_whatever_is_around_them(exclude: Exclude):
    excluded = excluded_strings(exclude, Limits())
    assert excluded is not None
    words = {bare(word) for word in (STOP_WORDS if exclude.stop_words else exclude.words)}
    source = random.Random(1)
    around = ["", " ", "\n", "...", " (", '"', "!?", "\u00a0", "a", "x ", "-"]
    for word in [*words, "cats", "dog", "t he", "th", ""]:
        for cased in (word, word.upper(), word.title(), word.swapcase()):
            text = source.choice(around) + cased + source.choice(around)
            assert excluded.accepts(text) == (bare(text.replace("\u00a0", " ")) in words), text


def test_case_is_ignored_as_the_flag_does():
    excluded = excluded_strings(Exclude(words=("kÉ", "a.b")), Limits())
    assert excluded is not None
    assert all(excluded.accepts(text) for text in ("ké", "KÉ", "\u212aé", "[Ké]", "A.B", " a.b."))
    assert not any(excluded.accepts(text) for text in ("ke", "axb", "«ké»", "ké1", "k é"))


def test_the_stop_words():
    assert 150 <= len(STOP_WORDS) == len(set(STOP_WORDS)) <= 180
    assert all(re.fullmatch("[a-z]+", word) for word in STOP_WORDS)
    assert {"the", "of", "and", "is", "him", "not", "a", "i"} < set(STOP_WORDS)
    assert not {"man", "woman", "art", "cat", "say"} & set(STOP_WORDS)
    language = compile_language(Query("(?i:the|cat|of) ?", exclude=Exclude(stop_words=True)))
    assert all(text.strip().lower() == "cat" for text in strings_of(language.pattern))


def test_all_kinds_together():
    query = Query("[a-c]|the|cat|dog", exclude=Exclude(regex="[bc]|.*g", words=("CAT",), stop_words=True))
    with pytest.raises(EmptyLanguageError, match=r"^Every string that can match the pattern is excluded\.$"):
        compile_language(query)
    left = compile_language(Query("[a-c]|the|cat|dog", exclude=Exclude(regex="[bc]", words=("CAT",), stop_words=True)))
    assert strings_of(left.pattern) == {"dog"}


def test_nothing_to_exclude():
    assert excluded_strings(Exclude(), Limits()) is None
    assert excluded_strings(Exclude(regex=r"[^\s\S]"), Limits()) is None
    language = compile_language(Query("a", prefix="b", exclude=Exclude(regex=r"[^\s\S]")))
    assert strings_of(language.whole) == {"ba"}


@pytest.mark.parametrize(
    ("excluded", "is_excluded"),
    [
        ("[ab]*a[ab]{30}", lambda text: text[-31:-30] == "a"),
        ("(a?b?){150}", lambda text: len(text) - text.count("ab") <= 150),
    ],
)
def test_exclusions_that_would_be_too_large_are_left_to_emission(excluded: str, is_excluded: Callable[[str], bool]):
    language = compile_language(Query("([ab]|[ac])*", prefix="x", exclude=Exclude(regex=excluded)))
    assert language.excluded is not None
    assert np.array_equal(language.pattern.transitions, compile_regex("[abc]*").transitions)
    source = random.Random(0)
    for length in [10, 31, 60, 190, *range(198, 206)]:
        text = "".join(source.choices("ab", k=length))
        assert language.excluded.accepts(text) == is_excluded(text)
        assert language.whole.accepts("x" + text)


def test_a_difference_larger_than_its_limit_is_left_to_emission():
    query = Query("[ab]{0,40}", exclude=Exclude(regex="[ab]*a[ab]{7}"))
    assert compile_language(query).excluded is None
    language = compile_language(query, Limits(automaton_states=100))
    assert language.excluded is not None
    assert language.pattern.states == 41


def test_errors_name_the_part():
    with pytest.raises(RegexError, match=r"at position 1 of the expression to exclude\.$") as caught:
        compile_language(Query("a", exclude=Exclude(regex="a(")))
    assert (caught.value.part, caught.value.position, caught.value.source) == ("exclude", 1, "a(")
    limits = Limits(regex_length=20)
    with pytest.raises(LimitError, match=r"^The expression to exclude has 21 characters, more than the limit of 20\.$"):
        compile_language(Query("a", exclude=Exclude(regex="a" * 21)), limits)
    with pytest.raises(LimitError, match=r"^The words to exclude have 21 characters, more than the limit of 20\.$"):
        compile_language(Query("a", exclude=Exclude(words=("a" * 15, "b" * 6))), limits)
    with pytest.raises(LimitError, match=r"^The expression to exclude needs at least 30,001 automaton states"):
        compile_language(Query("a", exclude=Exclude(regex="a{30000}")))
    with pytest.raises(
        LimitError, match=r"^The expression to exclude takes [0-9,]+ automaton arcs, more than 250,000\.$"
    ):
        compile_language(Query("a", exclude=Exclude(regex="(a?b?){600}")))
    language = compile_language(Query("[ab]", exclude=Exclude(stop_words=True)), Limits(regex_length=5))
    assert strings_of(language.whole) == {"b"}  # the words of the list are nobody's input
