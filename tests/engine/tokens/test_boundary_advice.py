"""Advice on the boundary: when it is given, and that its suggestion helps."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.language.automaton import ByteAutomaton
from relens.language.compile import compile_language
from relens.query import Boundary, Edits, Encoding, Exclude, Query
from relens.tokens.boundary_advice import BoundaryAdvice, accept_the_same
from relens.tokens.compiled import compile_query
from relens.tokens.tokenizer import Tokenizer
from tests.engine.tokens.conftest import OTHERS
from tests.engine.tokens.helpers import language, strings
from tests.engine.tokens.written_out import tree, written_language


def advice(query: Query, tokenizer: Tokenizer) -> BoundaryAdvice | None:
    return compile_query(query, tokenizer).advice


@pytest.mark.parametrize(
    ("prefix", "pattern", "moved"),
    [
        ("The ", "cat", ("The", " cat")),
        ("The ", "cat|dog", ("The", " (?:cat|dog)")),
        ("The ", "(cat|dog)", ("The", " (cat|dog)")),
        (r"The\ ", "cat", ("The", " cat")),
        ("The[ ]", "cat", ("The", " cat")),
        (r"The\x20", "cat", ("The", " cat")),
        ("(?x) The\\  # a space", "cat", ("(?x) The # a space", " cat")),
        ("The ", "(?i)cat|dog", ("The", "(?i) (?:cat|dog)")),
        ("The ", "(?x)cat # an animal", ("The", "(?x)\\ cat # an animal")),
        ("The ", "(?x)cat|dog # animals", ("The", "(?x)\\ (?:cat|dog # animals\n)")),
        ("^The $", "^cat$", ("^The$", "^ cat$")),
        ("(A |The )", "cat", ("(A|The)", " cat")),
        ("A |The ", "cat", ("A|The", " cat")),
        ("(?i)a |the ", "cat", ("(?i)a|the", " cat")),
    ],
)
def test_a_space_that_can_move(gpt2: Tokenizer, prefix: str, pattern: str, moved: tuple[str, str]) -> None:
    query = Query(pattern, prefix=prefix)
    suggested = advice(query, gpt2)
    assert suggested is not None
    assert (suggested.prefix, suggested.pattern) == moved
    assert "' cat'" in suggested.sentence
    assert "moving the space to the beginning of the pattern helps" in suggested.sentence
    moved_query = dataclasses.replace(query, prefix=suggested.prefix, pattern=suggested.pattern)
    assert advice(moved_query, gpt2) is None, "the boundary is where the tokenizer cuts"
    before, after = compile_language(query).whole, compile_language(moved_query).whole
    assert set(strings(before)) == set(strings(after))


@pytest.mark.parametrize(
    ("prefix", "pattern", "token"),
    [
        ("The ca", "t", " cat"),
        ("The +", "cat", " cat"),
        ("The( |  )", "cat", " cat"),
        ("(The |A)", "cat", " cat"),
        ("(?P<article>The )", "cat", " cat"),
        (" ", "cat", " cat"),
        ("(?i) ", "cat", " cat"),
        ("The ", "^cat|^dog", " cat"),
    ],
)
def test_blanks_that_cannot_move(gpt2: Tokenizer, prefix: str, pattern: str, token: str) -> None:
    suggested = advice(Query(pattern, prefix=prefix), gpt2)
    assert suggested is not None
    assert (suggested.prefix, suggested.pattern) == ("", "")
    assert repr(token) in suggested.sentence or "Acat" in suggested.sentence
    assert "a free boundary" in suggested.sentence
    assert suggested.sentence.count(". ") == 0
    assert BoundaryAdvice.from_json(json.loads(json.dumps(suggested.to_json()))) == suggested


def test_a_long_prefix_is_cut_short(gpt2: Tokenizer) -> None:
    suggested = advice(Query("cat", prefix="Once upon a time there was a "), gpt2)
    assert suggested is not None
    assert "'…there was a '" in suggested.sentence


def test_nothing_to_advise(gpt2: Tokenizer) -> None:
    assert advice(Query(" cat", prefix="The"), gpt2) is None
    assert advice(Query("cat"), gpt2) is None
    free = Query("t", prefix="The ca", boundary=Boundary.FREE, encoding=Encoding.CANONICAL)
    assert advice(free, gpt2) is None
    assert advice(Query("!", prefix="The cat"), gpt2) is None


def test_a_move_that_would_not_help_is_not_offered(trained: Tokenizer) -> None:
    """Where tokens cross from a word into the space after it, a space is no better off in the pattern."""
    offered = refused = 0
    for prefix, pattern in itertools.product(["the ", "of ", "make "], ["people", "law", "or", "freedom", "1", "\n"]):
        suggested = advice(Query(pattern, prefix=prefix), trained)
        is_cut = trained.encode(prefix + pattern) == trained.encode(prefix) + trained.encode(pattern)
        helps = trained.encode(prefix + pattern) == trained.encode(prefix[:-1]) + trained.encode(" " + pattern)
        assert (suggested is None) == is_cut
        if suggested is not None:
            assert (suggested.pattern == " " + pattern) == helps
            offered, refused = offered + helps, refused + (not helps)
    assert (offered > 0, refused > 0) == ((False, True) if trained.name == "whole text" else (True, False))


def test_edits_of_one_part_pin_the_space(gpt2: Tokenizer) -> None:
    """A space that moves to a part that is edited could be edited there: other strings."""
    anywhere = Query("cat", prefix="The ", edits=Edits(1, alphabet="[a-d]"))
    suggested = advice(anywhere, gpt2)
    assert suggested is not None
    assert (suggested.prefix, suggested.pattern) == ("The", " cat")
    moved = compile_language(dataclasses.replace(anywhere, prefix="The", pattern=" cat"))
    assert accept_the_same(compile_language(anywhere).whole, moved.whole)
    for where in ("prefix", "pattern"):
        suggested = advice(dataclasses.replace(anywhere, edits=Edits(1, where, alphabet="[a-d]")), gpt2)
        assert suggested is not None
        assert (suggested.prefix, suggested.pattern) == ("", "")


def test_exclusions_pin_the_space_if_they_differ(gpt2: Tokenizer) -> None:
    words = advice(Query("cat|dog", prefix="The ", exclude=Exclude(words=("dog",))), gpt2)
    assert words is not None
    assert (words.prefix, words.pattern) == ("The", " (?:cat|dog)")
    regex = advice(Query("cat|dog", prefix="The ", exclude=Exclude(regex="dog")), gpt2)
    assert regex is not None
    assert regex.pattern == "", "` dog` is not excluded"
    made = written_language([({"The "}, {"cat", "dog"})], {"cat"}, taken_out=False)
    suggested = compile_query(Query("cat|dog", prefix="The "), gpt2, compiler=lambda *_: made).advice
    assert suggested is not None
    assert "' dog'" in suggested.sentence, "no example is an excluded string"
    assert suggested.pattern == ""


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_tokenizers_that_put_a_space_first(name: str) -> None:
    """The advice says what comparing encodings says."""
    tokenizer = OTHERS[name]()
    for prefix, pattern in (("the ", "cat"), ("the", " cat"), ("the", "se"), ("or", " of")):
        if name == "wordpiece" and prefix.endswith(" "):
            continue  # no token ends in a space
        is_cut = tokenizer.encode(prefix + pattern) == tokenizer.encode(prefix) + tokenizer.encode(pattern, True)
        made = written_language([({prefix}, {pattern})])
        query = Query(pattern, prefix=prefix, prefix_encoding=Encoding.ALL)
        compiled = compile_query(query, tokenizer, compiler=lambda *_, made=made: made)
        assert (compiled.advice is None) == is_cut


texts = st.frozensets(st.text("ab", max_size=3), max_size=5)


@given(texts, texts)
def test_automata_that_accept_the_same(one: frozenset[str], other: frozenset[str]) -> None:
    def pattern(items: frozenset[str]) -> ByteAutomaton:
        return language("|".join(map(re.escape, sorted(items)))) if items else language(r"[^\s\S]")

    assert accept_the_same(pattern(one), pattern(other)) == (one == other)
    if one:
        assert accept_the_same(tree(one), pattern(one))


def test_open_languages_that_are_the_same() -> None:
    assert accept_the_same(language("(ab)*a"), language("a(ba)*"))
    assert not accept_the_same(language("(ab)*a"), language("a(bb)*"))
