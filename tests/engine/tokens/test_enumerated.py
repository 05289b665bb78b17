"""Small languages of any tokenizer, encoded string by string."""

from __future__ import annotations

import numpy as np
import pytest

from relens.errors import NoEncodingError
from relens.language.automaton import ByteAutomaton
from relens.query import Limits
from relens.tokens.canonical import canonical_encodings
from relens.tokens.enumerated import EnumeratedAutomaton, enumerated_encodings, strings
from relens.tokens.laws import assert_laws, paths
from relens.tokens.tokenizer import Tokenizer
from tests.engine.tokens.conftest import OTHERS
from tests.engine.tokens.helpers import encodings, language
from tests.engine.tokens.helpers import strings as all_strings

PATTERNS = ["cat|dog", "(The )?(cat|dog)s?", "(the|peace|press| or)(s|ably)?", "(a| ){0,4}", "right|rights of"]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("continues", [False, True])
def test_paths_are_the_encodings(other: Tokenizer, pattern: str, continues: bool) -> None:
    automaton = language(pattern)
    expected = encodings(other, automaton, continues)
    if not expected:  # after another text a word of WordPiece begins with a space
        with pytest.raises(NoEncodingError):
            canonical_encodings(automaton, other, Limits(), continues)
        return
    tokens = canonical_encodings(automaton, other, Limits(), continues)
    assert isinstance(tokens, EnumeratedAutomaton)
    assert not tokens.needs_confirmation
    assert_laws(tokens)
    assert sorted(paths(tokens)) == sorted(expected)
    assert tokens.arc_count == sum(len(tokens.arcs(state).tokens) for state in range(tokens.states))


@pytest.mark.parametrize("pattern", [*PATTERNS, "é|日[ab]?", ""])
def test_strings_in_order(pattern: str) -> None:
    automaton = language(pattern)
    listed = [text.encode() for text in strings(automaton)]
    assert listed == sorted(all_strings(automaton))


def test_prefix_marks_know_of_the_first_space() -> None:
    tokenizer = OTHERS["unigram"]()
    automaton = language("the press or")
    marked = ByteAutomaton(automaton.transitions, automaton.final, np.arange(automaton.states) <= len("the press"))
    tokens = canonical_encodings(marked, tokenizer, Limits())
    (path,) = paths(tokens)
    state, spelled = tokens.start, []
    for token in path:
        spelled.append(token)
        assert tokens.arcs(state).in_prefix.tolist() == [tokenizer.decode(spelled) in "the press"]
        state = tokens.step(state, token)


def test_no_string_or_too_many() -> None:
    tokenizer = OTHERS["wordpiece"]()
    with pytest.raises(NoEncodingError):
        canonical_encodings(language("The|CAT"), tokenizer, Limits())  # it writes everything small
    for pattern in ("[a-z]{4}", "a*"):
        automaton = language(pattern)
        assert enumerated_encodings(automaton, automaton, tokenizer, False) is None
