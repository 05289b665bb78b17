from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from relens.language.alignment import EditRules, Step, align
from tests.engine.language.edited import edits_apart

EVERY_KIND = EditRules(True, True, True, lambda character: True)
_NAMES = {"insert": "insertion", "delete": "deletion", "replace": "substitution"}

_letters = st.text("ab", max_size=12) | st.text("abcé ", max_size=9)


def _rapidfuzz_steps(source: str, target: str) -> list[Step]:
    return [Step(_NAMES[step.tag], step.src_pos, step.dest_pos) for step in Levenshtein.editops(source, target)]


@given(source=_letters, target=_letters)
def test_agrees_with_rapidfuzz(source: str, target: str):
    distance = Levenshtein.distance(source, target)
    assert align(source, target, distance, EVERY_KIND) == _rapidfuzz_steps(source, target)
    assert align(source, target, distance + 2, EVERY_KIND) == _rapidfuzz_steps(source, target)
    if distance:
        assert align(source, target, distance - 1, EVERY_KIND) is None


def test_long_texts_agree_with_rapidfuzz():
    source = "The man was trained in computer science. " * 12
    target = source.replace("man", "woman", 1)[:300] + source[299:].replace("trained", "train", 1)
    assert align(source, target, 6, EVERY_KIND) == _rapidfuzz_steps(source, target)


@given(
    source=st.text("ab", max_size=4),
    target=st.text("abc", max_size=4),
    kinds=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    writable=st.sampled_from(["abc", "a", "bc", ""]),
    distance=st.integers(0, 3),
)
def test_restricted_edits_agree_with_brute_force(source, target, kinds, writable, distance):
    rules = EditRules(*kinds, writable.__contains__)
    steps = align(source, target, distance, rules)
    expected = edits_apart(source, target, distance, rules)
    assert (None if steps is None else len(steps)) == expected


def test_one_of_several_alignments():
    assert align("ab", "aab", 1, EVERY_KIND) == [Step("insertion", 1, 1)]
    assert align("aab", "ab", 1, EVERY_KIND) == [Step("deletion", 1, 1)]
    assert align("kitten", "sitting", 3, EVERY_KIND) == [
        Step("substitution", 0, 0),
        Step("substitution", 4, 4),
        Step("insertion", 6, 6),
    ]
