"""Whether two compiled languages are the same, array by array."""

from __future__ import annotations

import numpy as np

from relens.language.automaton import ByteAutomaton
from relens.language.language import Language


def automata(language: Language) -> list[ByteAutomaton]:
    pairs = [*language.ways, *([language.unedited] if language.unedited else [])]
    return [language.prefix, language.pattern, language.whole, *(part for pair in pairs for part in pair)]


def assert_same(left: Language, right: Language) -> None:
    assert len(left.ways) == len(right.ways)
    assert (left.unedited is None) == (right.unedited is None)
    for one, other in zip(automata(left), automata(right), strict=True):
        for name in ("transitions", "final", "in_prefix"):
            assert np.array_equal(getattr(one, name), getattr(other, name))
            assert getattr(one, name).dtype == getattr(other, name).dtype
    assert (left.excluded is None) == (right.excluded is None)
    if left.excluded is not None and right.excluded is not None:
        for name in ("sources", "lows", "highs", "destinations", "final"):
            assert np.array_equal(getattr(left.excluded, name), getattr(right.excluded, name))
