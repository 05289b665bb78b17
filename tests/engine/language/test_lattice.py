from __future__ import annotations

import pytest

from relens.language import lattice
from relens.language.alignment import EditRules
from relens.language.character_steps import CharacterSteps
from relens.language.compile import compile_regex
from relens.language.lattice import Lattice

EVERY_KIND = EditRules(True, True, True, lambda character: True)


def explored(prefix: str, pattern: str, text: str, most: int, editable=(True, True)) -> Lattice | None:
    """The lattice of a text all of whose characters may be written; None where nothing is near."""
    parts = CharacterSteps(compile_regex(prefix)), CharacterSteps(compile_regex(pattern))
    characters = [character.encode() for character in text]
    lattice = Lattice(parts, characters, [True] * len(text), editable, EVERY_KIND)
    return lattice if lattice.explore(most) else None


def test_the_strings_are_in_byte_order_and_without_repetition():
    lattice = explored("(x|xa)", "(a|b|é)?c", "xc", 1)
    assert (lattice.distance, list(lattice.strings(9))) == (0, ["xc"])
    lattice = explored("(x|xa)", "(a|b|é)", "x", 1)
    assert (lattice.distance, list(lattice.strings(9))) == (1, ["xa", "xb", "xé"])
    # "xaa" can be had in two ways, "x" and "xa" being both prefixes.
    lattice = explored("(x|xa)", "a{1,2}|b", "xaa!", 1)
    assert (lattice.distance, list(lattice.strings(9))) == (1, ["xaa", "xaaa"])


def test_some_strings_of_many():
    lattice = explored("", "[^\n]{3}", "a", 2)
    assert lattice.distance == 2
    strings = lattice.strings(3)
    assert [next(strings) for _ in range(3)] == ["\0\0a", "\0\x01a", "\0\x02a"]


def test_only_one_part_may_be_edited():
    assert explored("ab", "cd", "abxcd", 1, editable=(False, True)).distance == 1
    assert explored("ab", "cd", "axbcd", 1, editable=(False, True)) is None
    assert explored("ab", "cd", "axbcd", 1, editable=(True, False)).distance == 1


def test_hostile_texts_end(monkeypatch: pytest.MonkeyPatch):
    assert explored("", "[ab]*a[ab]{9}!", "ab" * 100, 2).distance == 1
    monkeypatch.setattr(lattice, "MOST_NODES", 200)
    assert explored("", "[ab]*a[ab]{9}!", "ab" * 100, 2) is None
    assert explored("", "[ab]*a[ab]{9}!", "ab" * 20 + "!", 2).distance == 0
