from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from relens.errors import LimitError
from relens.language.alphabet import alphabet_ranges
from relens.language.automaton import ByteAutomaton
from relens.language.compile import compile_language
from relens.language.counting import count_strings
from relens.language.edits import EditedLanguage
from relens.language.syntax import parse_regex
from relens.query import Edits, Limits, Query
from tests.engine.language.brute_force import edited_strings, strings_of, strings_over

KINDS = [kinds for kinds in itertools.product([False, True], repeat=3) if any(kinds)]
NAMES = ("insertions", "deletions", "substitutions")
PEOPLE, SUBJECTS = r"The ((man)|(woman)) was trained in", (
    r"((art)|(science)|(business)|(medicine)|(computer science)|(engineering)|(humanities)|(social sciences)"
    r"|(information systems)|(math))"
)  # fmt: skip


def edited(pattern: str, edits: Edits, distance: int | None = None) -> ByteAutomaton:
    alphabet = alphabet_ranges(edits, Limits())
    language = EditedLanguage(parse_regex(pattern), edits, alphabet, Limits(), "The pattern")
    return language.within(edits.distance if distance is None else distance)


def alternatives(words: list[str]) -> str:
    return "|".join(map(re.escape, words))


@pytest.mark.parametrize("distance", [1, 2])
@pytest.mark.parametrize("words", [["ab"], ["", "a€"], ["aab", "b", "€€"], ["abab"]])
def test_agrees_with_rapidfuzz(words: list[str], distance: int):
    automaton = edited(alternatives(words), Edits(distance, alphabet="[ab€]"))
    for text in strings_over("ab€", 6):
        nearest = min(Levenshtein.distance(word, text) for word in words)
        assert automaton.accepts(text) == (nearest <= distance), text
    assert not automaton.accepts("ax")


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("distance", [1, 2])
@pytest.mark.parametrize(
    ("words", "alphabet", "written"),
    [(["ab€", "b"], "[ab]", "ab"), (["é", "€", "aa"], "([éx])", "éx"), (["cat"], "[a-c😀]", "abc😀"), ([""], "é", "é")],
)  # fmt: skip
def test_each_kind_can_be_switched_off(words, alphabet, written, distance, kinds):
    options = dict(zip(NAMES, kinds, strict=True))
    automaton = edited(alternatives(words), Edits(distance, alphabet=alphabet, **options))
    assert strings_of(automaton) == edited_strings(words, distance, written, **options)


@settings(max_examples=60)
@given(
    words=st.lists(st.text("ab€😀", max_size=4), min_size=1, max_size=3),
    written=st.text("abé€", min_size=1, max_size=3),
    distance=st.integers(1, 2),
    kinds=st.sampled_from(KINDS),
)
def test_generated_languages_are_edited_as_by_brute_force(words, written, distance, kinds):
    options = dict(zip(NAMES, kinds, strict=True))
    automaton = edited(alternatives(words), Edits(distance, alphabet=f"[{written}]", **options))
    assert strings_of(automaton) == edited_strings(words, distance, written, **options)


#: Patterns without end or with large classes; LETTERS has a character of each kind that they tell apart.
OPEN = ["(ab)*", "a*", "[^a]b", r"\w+", ".", "(?s:.)*b", "a(.|é)?", r"[\d€]{2}", "(?i:k)b"]
LETTERS = "abkK€é1 \n"


@pytest.mark.parametrize("alphabet", ["[ab ]", "[^b]", "."])
@pytest.mark.parametrize(
    "kinds", [(True, True, True), (True, False, False), (False, True, False), (False, False, True)]
)
@pytest.mark.parametrize("pattern", OPEN)
def test_open_languages(pattern: str, kinds: tuple[bool, bool, bool], alphabet: str):
    """From the other end: one edit made a text of the language where taking one edit back leads into it."""
    insertions, deletions, substitutions = kinds
    automaton = edited(pattern, Edits(1, alphabet=alphabet, **dict(zip(NAMES, kinds, strict=True))))
    for text in strings_over(LETTERS, 3):
        before = {text}
        for place in range(len(text) + 1):
            left, right = text[:place], text[place:]
            writable = bool(right) and re.fullmatch(alphabet, right[0]) is not None
            if deletions:
                before.update(left + letter + right for letter in LETTERS)
            if insertions and writable:
                before.add(left + right[1:])
            if substitutions and writable:
                before.update(left + letter + right[1:] for letter in LETTERS)
        assert automaton.accepts(text) == any(re.fullmatch(pattern, candidate) for candidate in before), text


@pytest.mark.parametrize("distance", [1, 2])
@pytest.mark.parametrize(
    ("prefix", "pattern"),
    [
        ("ab", "ba"), ("a?", "ab"), ("a*", "b"), ("é|", "€{1,2}"), ("(a|b)*", "(ab)*"), (r"\w", r" \w"), ("()", "a"),
        (PEOPLE, " " + SUBJECTS),
    ],
)  # fmt: skip
def test_both_is_within_the_distance_of_the_concatenation(prefix: str, pattern: str, distance: int):
    edits = Edits(distance)
    language = compile_language(Query(pattern, prefix=prefix, edits=edits))
    whole = edited(f"(?:{prefix})(?:{pattern})", edits)
    assert len(language.ways) == distance + 1
    for number, (of_prefix, of_pattern) in enumerate(language.ways):
        for part, automaton, share in ((prefix, of_prefix, number), (pattern, of_pattern, distance - number)):
            expected = edited(part, edits, share) if share else edited(part, edits, 0)
            assert np.array_equal(automaton.transitions, expected.transitions)
            assert np.array_equal(automaton.final, expected.final)
    assert language.prefix is language.ways[-1][0]
    assert language.pattern is language.ways[0][1]
    assert language.unedited == (language.ways[0][0], language.ways[-1][1])
    # `whole` has its states once within the prefix and once after it; without the marks it is the minimal automaton.
    assert same_language(language.whole, whole)


def same_language(left: ByteAutomaton, right: ByteAutomaton) -> bool:
    pairs = [(0, 0)]
    seen = set(pairs)
    for one, other in pairs:
        if left.final[one] != right.final[other]:
            return False
        for pair in set(zip(left.transitions[one].tolist(), right.transitions[other].tolist(), strict=True)):
            if min(pair) < 0:
                if max(pair) >= 0:  # both are trim: what only one can read leads to a string of that one only
                    return False
            elif pair not in seen:
                seen.add(pair)
                pairs.append(pair)
    return True


@pytest.mark.parametrize("where", ["prefix", "pattern", "both"])
def test_where(where: str):
    words, endings = ["ab", "c"], ["d", ""]
    query = Query(alternatives(endings), prefix=alternatives(words), edits=Edits(1, where, alphabet="[a-e]"))
    language = compile_language(query)
    near_words, near_endings = edited_strings(words, 1, "abcde"), edited_strings(endings, 1, "abcde")
    expected = {
        "prefix": {first + second for first in near_words for second in endings},
        "pattern": {first + second for first in words for second in near_endings},
        "both": edited_strings([first + second for first in words for second in endings], 1, "abcde"),
    }
    assert strings_of(language.whole) == expected[where]
    assert strings_of(language.prefix) == (set(words) if where == "pattern" else near_words)
    assert strings_of(language.pattern) == (set(endings) if where == "prefix" else near_endings)
    assert len(language.ways) == (2 if where == "both" else 1)
    assert [strings_of(part) for part in language.unedited or ()] == [set(words), set(endings)]
    begins = {string[:length] for string in strings_of(language.prefix) for length in range(len(string) + 1)}
    for text in strings_of(language.whole):
        for length in range(len(text) + 1):
            assert language.whole.in_prefix[language.whole.run(text[:length].encode())] == (text[:length] in begins)


@pytest.mark.parametrize("where", ["prefix", "pattern", "both"])
def test_nothing_is_written_before_a_query_without_prefix(where: str):
    language = compile_language(Query("ab", edits=Edits(1, where, alphabet="[ab]")))
    assert strings_of(language.prefix) == {""}
    assert language.ways == ((language.prefix, language.pattern),)
    near = {"ab"} if where == "prefix" else edited_strings(["ab"], 1, "ab")
    assert strings_of(language.whole) == strings_of(language.pattern) == near
    assert np.flatnonzero(language.whole.in_prefix).tolist() == [0]
    assert [strings_of(part) for part in language.unedited or ()] == [{""}, {"ab"}]


def test_without_edits_there_is_nothing_unedited():
    language = compile_language(Query("a", prefix="b", edits=Edits(0, alphabet="not looked at")))
    assert language.unedited is None
    assert language.ways == ((language.prefix, language.pattern),)


def test_the_template_of_the_bias_query():
    strings = strings_of(compile_language(Query(f"{PEOPLE} {SUBJECTS}")).pattern)
    printable = "".join(map(chr, range(32, 127)))
    near = edited_strings(strings, 1, printable)
    assert (len(strings), len(near)) == (20, 130_794)
    language = compile_language(Query(f"{PEOPLE} {SUBJECTS}", edits=Edits(1)))
    assert strings_of(language.whole) == near
    assert language.whole.states == 542
    two = compile_language(Query(" " + SUBJECTS, prefix=PEOPLE, edits=Edits(2)))
    assert count_strings(two.whole) == 430_275_116


def test_surrogates_are_never_written():
    language = compile_language(Query("a|\ud800b", edits=Edits(1, insertions=False, substitutions=False)))
    assert strings_of(language.pattern) == {"", "a"}
    written = compile_language(Query("a", edits=Edits(1, alphabet="[\ud700-\ue100]", deletions=False))).pattern
    assert written.accepts("\ue100")
    assert written.accepts("\ud7ff")
    assert not written.accepts(b"\xed\xa0\x80")


def test_edits_that_make_it_too_large_are_refused():
    with pytest.raises(LimitError, match=r"^The pattern within 2 edits needs .* than the limit of 5,000\.$"):
        compile_language(Query(r"[a-z]{1,12} likes [a-z]{1,12}", edits=Edits(2)), Limits(automaton_states=5000))
    with pytest.raises(LimitError, match=r"^The prefix within 1 edit needs") as caught:
        compile_language(Query("b", prefix="(abcdefgh){20}", edits=Edits(1)), Limits(automaton_states=300))
    assert caught.value.limit == "automaton_states"
    letters = "".join(map(chr, range(0x4E00, 0x4E00 + 4000)))
    with pytest.raises(LimitError, match=r"^The pattern within 1 edit takes [0-9,]* automaton arcs to build"):
        compile_language(Query(letters, edits=Edits(1, alphabet=".")))
