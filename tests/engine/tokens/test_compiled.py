"""Compiled queries: sizes, notes, acceptance, errors, and imports."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from relens.errors import EmptyLanguageError, LimitError, NoEncodingError, RegexError
from relens.query import Boundary, Edits, Encoding, Limits, Query
from relens.tokens.compiled import Sizes, compile_query
from relens.tokens.laws import assert_laws, paths
from relens.tokens.tokenizer import Tokenizer
from tests.engine.tokens.conftest import OTHERS
from tests.engine.tokens.written_out import edited

DATE = Query(r" (January|July) \d{1,2}, \d{4}", prefix="George Washington was born on", encoding=Encoding.CANONICAL)


def test_texts_and_tokens(real: Tokenizer) -> None:
    compiled = compile_query(DATE, real)
    text = "George Washington was born on July 4, 1732"
    assert compiled.accepts_text(text)
    assert not compiled.accepts_text(text + "!")
    tokens = real.encode("George Washington was born on") + real.encode(" July 4, 1732")
    assert compiled.accepts_tokens(tokens)
    assert not compiled.accepts_tokens(tokens[:-1])
    assert compiled.is_canonical(tokens, len(real.encode("George Washington was born on")))
    letters = [token for character in text for token in real.encode(character)]
    assert not compiled.accepts_tokens(letters)
    assert not compiled.is_canonical(letters, 29)
    assert compiled.seconds > 0
    assert compiled.notes == ()


def test_sizes(small: Tokenizer) -> None:
    sizes = compile_query(Query("(cat|dog)s?"), small).sizes
    assert sizes.strings == 4
    assert sizes.language_states == 7
    assert sizes.language_arcs == 7
    assert sizes.token_states is not None
    assert sizes.token_arcs is not None
    assert sizes.token_arcs >= 7
    assert Sizes.from_json(json.loads(json.dumps(sizes.to_json()))) == sizes
    assert compile_query(Query("a+"), small).sizes.strings is None
    assert compile_query(Query("[ab]{15000}"), small).sizes.strings is None, "too long a number to write out"
    lazy = compile_query(Query("[a-z]+", encoding=Encoding.CANONICAL), small).sizes
    assert lazy.token_states is None
    assert lazy.token_arcs is None


def test_other_notes(smollm2: Tokenizer, gpt2: Tokenizer) -> None:
    (missing,) = compile_query(Query("a[\x04-\x06]"), smollm2).notes
    assert "0x04, 0x06" in missing
    (large,) = compile_query(Query("[a-zA-Z ]{1,100}", encoding=Encoding.CANONICAL), gpt2).notes
    assert "too large" in large
    confirmed, space = compile_query(Query("[aet]+", encoding=Encoding.CANONICAL), OTHERS["unigram"]()).notes
    assert "Unigram" in confirmed
    assert "space" in space


def test_errors(smollm2: Tokenizer) -> None:
    for query, error in (
        (Query("(a"), RegexError),
        (Query("[^\\s\\S]"), EmptyLanguageError),
        (Query("\x04"), NoEncodingError),
        (Query("\x04", encoding=Encoding.CANONICAL), NoEncodingError),
        (Query("(a|b)" * 30), LimitError),
    ):
        with pytest.raises(error):
            compile_query(query, smollm2, Limits(automaton_states=20))


@pytest.mark.parametrize("where", ["prefix", "pattern", "both"])
@pytest.mark.parametrize("boundary", list(Boundary))
@pytest.mark.parametrize("encoding", list(Encoding))
def test_edits_from_expression_to_tokens(small: Tokenizer, where, boundary: Boundary, encoding: Encoding) -> None:
    """The strings are those within an edit, and those of the prefixes, one after the other, are all of them."""
    query = Query(
        " cat|b",
        prefix="a|ab",
        encoding=encoding,
        prefix_encoding=encoding,
        boundary=boundary,
        edits=Edits(1, where, alphabet="[ab]"),
    )
    compiled = compile_query(query, small)
    heads, tails = {"a", "ab"}, {" cat", "b"}
    changed_heads = heads if where == "pattern" else edited(heads, "ab")
    changed_tails = tails if where == "prefix" else edited(tails, "ab")
    expected = {head + tail for head in changed_heads for tail in tails}
    expected |= {head + tail for head in heads for tail in changed_tails}
    sequences = set(paths(compiled.automaton))
    assert {small.decode(path) for path in sequences} == expected
    assert all(compiled.accepts_text(text) for text in expected)
    assert_laws(compiled.automaton, most_states=30)
    assert sequences == {path for head in changed_heads for path in paths(compiled.given(head))}
    if encoding is Encoding.CANONICAL:
        assert all(compiled.is_canonical(path, len(path)) for path in sequences)


def test_another_compiler_needs_no_pynini(small: Tokenizer) -> None:
    """A process that has its regular expressions compiled elsewhere imports neither pynini nor a model library."""
    program = """
import sys
import numpy as np
from relens.language.automaton import ByteAutomaton
from relens.language.language import Language
from relens.query import Encoding, Query
from relens.tokens.compiled import compile_query
from relens.tokens.tokenizer import Tokenizer

table = np.full((2, 256), -1, np.int32)
table[0, ord("a")] = 1
automaton = ByteAutomaton(table, np.array([False, True]), np.zeros(2, np.bool_))
tokenizer = Tokenizer.from_json(sys.stdin.read(), name="small")
query = Query("a", encoding=Encoding.CANONICAL)
compiled = compile_query(query, tokenizer, compiler=lambda *_: Language(automaton, automaton, automaton))
assert compiled.accepts_tokens(tokenizer.encode("a"))
print(sorted({"pynini", "torch", "transformers", "streamlit"} & set(sys.modules)))
"""
    answer = subprocess.run(
        [sys.executable, "-c", program], input=small.to_json(), capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


@pytest.mark.parametrize("encoding", list(Encoding))
def test_a_finite_automaton_is_counted_even_where_it_is_made_as_it_is_reached(smollm2, encoding):
    compiled = compile_query(Query(" (cat|dog)s?", prefix="The", encoding=encoding), smollm2)
    paths = [[]]
    states, arcs = {compiled.automaton.start}, set()
    while paths:
        path = paths.pop()
        state = compiled.automaton.start
        for token in path:
            state = compiled.automaton.step(state, token)
        for token in compiled.automaton.arcs(state).tokens.tolist():
            arcs.add((state, token))
            states.add(compiled.automaton.step(state, token))
            paths.append([*path, token])
    assert (compiled.sizes.token_states, compiled.sizes.token_arcs) == (len(states), len(arcs))
    assert compile_query(Query("[a-z]+", encoding=Encoding.CANONICAL), smollm2).sizes.token_states is None
