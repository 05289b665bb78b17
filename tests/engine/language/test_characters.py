from __future__ import annotations

import re
import sys

import pytest

from relens.language.characters import atom_ranges, complement, normalise

pytestmark = pytest.mark.heavy

EVERYTHING = "".join(map(chr, range(sys.maxunicode + 1)))

ATOMS = [r"\w", r"\W", r"\s", ".", "k", "İ", "ß", "ΐ", "µ", "[a-z]", "[^K]", "[İ]", "[^ſ-ƀ]", "[Ā-😀]", "[^µ𐐨]",
         "[𐐀x]", "[𐐨x]", "[\U00010400-\U00010410]", r"[^\W\d]", "[\ufb00-\ufb06]", r"\N{KELVIN SIGN}"]  # fmt: skip


@pytest.mark.parametrize("atom", ATOMS)
@pytest.mark.parametrize("flags", [0, re.IGNORECASE, re.IGNORECASE | re.ASCII, re.DOTALL])
def test_every_character_of_unicode_agrees_with_re(atom: str, flags: int):
    matched = (match.start() for match in re.compile(atom, flags).finditer(EVERYTHING))
    assert atom_ranges(atom, flags) == normalise((code, code) for code in matched)


def test_complement_and_normalise():
    assert normalise([(5, 7), (1, 2), (3, 4), (6, 9)]) == ((1, 9),)
    assert complement([(0, 4), (6, sys.maxunicode)]) == ((5, 5),)
    assert complement([]) == ((0, sys.maxunicode),)
    assert complement(complement([(3, 5)])) == ((3, 5),)
