from __future__ import annotations

import functools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from relens.language.alignment import EditRules
from relens.language.automaton import ByteAutomaton
from relens.language.compile import compile_regex
from relens.language.nearest import Edit, Nearest, NearestStrings
from relens.query import Edits
from tests.engine.language.edited import LETTERS, edits_apart, one_edit
from tests.engine.language.patterns import matching_string

pytestmark = pytest.mark.heavy

#: Parts of a query with their strings; the last has more, all too far from any text that is made of the first four.
PARTS = {
    "": [""],
    "a": ["a"],
    "ab?": ["a", "ab"],
    "a|bc|": ["", "a", "bc"],
    "[abé]c": ["ac", "bc", "éc"],
    "(ab|ba){1,2}": ["ab", "ba", "abab", "abba", "baab", "baba"],
    "é*": ["é" * length for length in range(12)],
}


compiled = functools.cache(compile_regex)


def nearest_strings(prefix: str, pattern: str, **edits) -> NearestStrings:
    return NearestStrings(compiled(prefix), compiled(pattern), Edits(**edits))


def rules_of(edits: Edits, letters: str) -> EditRules:
    return EditRules(edits.insertions, edits.deletions, edits.substitutions, letters.__contains__)


def applied(nearest: Nearest) -> str:
    """The nearest string with its edits made, one after the other."""
    made, source = "", 0
    for edit in nearest.edits:
        stays = edit.position - len(made)
        made += nearest.string[source : source + stays]
        source += stays
        assert nearest.string[source : source + len(edit.removed)] == edit.removed
        assert edit.removed != edit.written
        made += edit.written
        source += len(edit.removed)
        assert (
            edit.operation
            == {(0, 1): "insertion", (1, 0): "deletion", (1, 1): "substitution"}[len(edit.removed), len(edit.written)]
        )
    return made + nearest.string[source:]


def brute_force(prefix: str, pattern: str, text: str, edits: Edits, letters: str) -> dict[str, int]:
    """For each string of the language its distance to `text`, where that is within the edits."""
    rules = rules_of(edits, letters)
    distances: dict[str, int] = {}
    for first in PARTS[prefix]:
        for second in PARTS[pattern]:
            distance: int | None = None
            if edits.where == "both":
                distance = edits_apart(first + second, text, edits.distance, rules)
            elif edits.where == "prefix" and text.endswith(second):
                distance = edits_apart(first, text[: len(text) - len(second)], edits.distance, rules)
            elif edits.where == "pattern" and text.startswith(first):
                distance = edits_apart(second, text[len(first) :], edits.distance, rules)
            if distance is not None:
                distances[first + second] = min(distance, distances.get(first + second, distance))
    return distances


@settings(max_examples=120)
@given(
    prefix=st.sampled_from(sorted(PARTS)),
    pattern=st.sampled_from(sorted(PARTS)),
    where=st.sampled_from(["prefix", "pattern", "both"]),
    distance=st.sampled_from([1, 2]),
    kinds=st.sampled_from([(1, 1, 1), (1, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1)]),
    letters=st.sampled_from([LETTERS, "ab", "é"]),
    seed=st.integers(0, 10**6),
)
def test_agrees_with_brute_force(prefix, pattern, where, distance, kinds, letters, seed):
    edits = Edits(distance, where, *map(bool, kinds), alphabet=f"[{letters}]")
    source = random.Random(seed)
    text = source.choice(PARTS[prefix][:4]) + source.choice(PARTS[pattern][:4])
    for _ in range(source.randrange(4)):
        text = source.choice(sorted(one_edit(text, EditRules(True, True, True, LETTERS.__contains__))))
    search = NearestStrings(compiled(prefix), compiled(pattern), edits)
    nearest, every = search.find(text), search.all(text)
    expected = brute_force(prefix, pattern, text, edits, letters)
    least = min(expected.values(), default=None)
    assert every == sorted((string for string in expected if expected[string] == least), key=str.encode)
    if nearest is None:
        assert least is None
        return
    assert nearest.string == every[0]
    assert len(nearest.edits) == least
    assert applied(nearest) == text
    for edit in nearest.edits:
        assert edit.written == "" or edit.written in letters
        assert getattr(edits, f"{edit.operation}s")
        assert where == "both" or edit.part == where
    # Edits of the prefix come first.
    parts = [edit.part for edit in nearest.edits]
    assert parts == sorted(parts, key=["prefix", "pattern"].index)


@settings(max_examples=60)
@given(
    pattern=st.sampled_from(
        [r"The ((man)|(woman)) was trained in [a-z]+( [a-z]+)*", r"\w+@\w+\.(org|net)", "[é-ü]{2,9}"]
    ),
    seed=st.integers(0, 10**6),
)
def test_agrees_with_rapidfuzz(pattern: str, seed: int):
    source = random.Random(seed)
    text = matching_string(pattern, source, most=5)
    for _ in range(source.randrange(3)):
        text = source.choice(sorted(one_edit(text, EditRules(True, True, True, "ae. é".__contains__), "ae. é")))
    search = nearest_strings("", pattern, distance=2, alphabet="[ -~éü]")
    nearest = search.find(text)
    assert nearest is not None
    assert compile_regex(pattern).accepts(nearest.string)
    steps = Levenshtein.editops(nearest.string, text)
    names = {"insert": "insertion", "delete": "deletion", "replace": "substitution"}
    assert [(edit.operation, edit.position) for edit in nearest.edits] == [
        (names[step.tag], step.dest_pos) for step in steps
    ]
    assert applied(nearest) == text
    others = search.all(text, most=500)
    assert others is None or all(Levenshtein.distance(other, text) == len(steps) for other in others)


def test_an_edit_has_its_operation_and_place():
    search = nearest_strings("The (cat|dog)", " s[aeiou]t", distance=2)
    assert search.find("The dig sat") == Nearest("The dog sat", (Edit("substitution", 5, "o", "i", "prefix"),))
    assert search.find("The cat st") == Nearest("The cat sat", (Edit("deletion", 9, "a", "", "pattern"),))
    assert search.find("Thhe cat sat") == Nearest("The cat sat", (Edit("insertion", 2, "", "h", "prefix"),))
    assert search.find("The cat, sat!") == Nearest(
        "The cat sat", (Edit("insertion", 7, "", ",", "pattern"), Edit("insertion", 12, "", "!", "pattern"))
    )
    assert search.find("The dog sat") == Nearest("The dog sat", ())
    assert search.find("A dog sat") is None
    assert search.find("The dog s\ud800t") is None


def test_an_empty_prefix_is_not_edited():
    nearest = nearest_strings("", "cat", distance=1, where="both").find("xcat")
    assert nearest == Nearest("cat", (Edit("insertion", 0, "", "x", "pattern"),))


def test_all_the_nearest_strings():
    search = nearest_strings("", "[a-z]at|bé", distance=1)
    assert search.all("at") == [f"{letter}at" for letter in "abcdefghijklmnopqrstuvwxyz"]
    assert search.all("!at", most=26) == search.all("at")
    assert search.all("!at", most=25) is None
    assert search.all("b") == ["bé"]
    assert search.all("xyz") == []
    assert nearest_strings("", ".at", distance=1).all("at", most=5000) is None
    assert nearest_strings("", "a*", distance=1).all("aab") == ["aa", "aaa"]


def test_representatives_stand_for_the_others():
    search = nearest_strings("", "[a-z]at|b[0-9]", distance=1)
    assert search.all("at", representatives=["0", "1", "b", "c"]) == ["aat", "bat", "cat"]
    assert search.all("at", representatives=["0", "1"]) == ["aat"]
    assert search.all("mat", representatives=["b"]) == ["mat"]
    assert search.all("b", representatives=["0", "1", "x"]) == ["b0", "b1"]


def test_an_empty_language_has_no_nearest_string():
    empty: ByteAutomaton = compile_regex(r"[^\s\S]")
    assert NearestStrings(compile_regex("a"), empty, Edits(2)).find("a") is None
