"""Boundary automata against the pre-tokenizers they stand for."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Regex, models, pre_tokenizers

from relens.tokens.boundaries import BoundaryAutomaton
from relens.tokens.pretokenizer import boundary_automaton
from relens.tokens.pretokenizer_regex import UnknownRegexError, parse_regex
from tests.engine.tokens.conftest import PRE_TOKENIZERS, byte_level
from tests.engine.tokens.helpers import KINDS, random_string


def automaton_of(pre_tokenizer: Any) -> BoundaryAutomaton | None:
    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizer
    return boundary_automaton(json.loads(backend.to_str())["pre_tokenizer"])


AUTOMATA = {name: automaton_of(pre_tokenizer) for name, pre_tokenizer in PRE_TOKENIZERS.items()}


def library_pieces(name: str, text: str) -> list[str]:
    return [text[begin:end] for _, (begin, end) in PRE_TOKENIZERS[name].pre_tokenize_str(text)]


@pytest.mark.parametrize("name", sorted(PRE_TOKENIZERS))
def test_cuts_where_the_pre_tokenizer_cuts(name: str) -> None:
    automaton = AUTOMATA[name]
    assert automaton is not None
    source = random.Random(11)
    for kind in KINDS:
        for _ in range(150):
            text = random_string(kind, source)
            assert automaton.pieces(text) == library_pieces(name, text)


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8), st.sampled_from(sorted(PRE_TOKENIZERS))
)
@settings(deadline=None, max_examples=300)
def test_cuts_any_text(text: str, name: str) -> None:
    automaton = AUTOMATA[name]
    assert automaton is not None
    assert automaton.pieces(text) == library_pieces(name, text)


@given(st.text("ab '1\ns", max_size=7), st.sampled_from(sorted(PRE_TOKENIZERS)))
@settings(deadline=None, max_examples=200)
def test_one_run_survives(text: str, name: str) -> None:
    automaton = AUTOMATA[name]
    assert automaton is not None
    runs = {0: 1}
    for character in text:
        after: dict[int, int] = {}
        for state, count in runs.items():
            for target in automaton.successors[state][automaton.character_class(character)]:
                after[target] = after.get(target, 0) + count
        runs = after
    assert sum(count for state, count in runs.items() if automaton.final[state]) == 1


def test_is_small() -> None:
    sizes = {name: len(automaton.final) for name, automaton in AUTOMATA.items() if automaton}
    assert sizes["gpt2"] <= 24
    assert sizes["llama3"] <= 34


@pytest.mark.parametrize(
    "pre_tokenizer",
    [
        pre_tokenizers.ByteLevel(add_prefix_space=True),
        pre_tokenizers.Whitespace(),
        pre_tokenizers.Sequence([byte_level(), pre_tokenizers.Digits()]),
        pre_tokenizers.Sequence([pre_tokenizers.Split("a", "isolated"), byte_level()]),
        pre_tokenizers.Sequence([pre_tokenizers.Split(Regex("ab|a?c"), "isolated"), byte_level()]),
        pre_tokenizers.Sequence([pre_tokenizers.Split(Regex("a+"), "removed", invert=True), byte_level()]),
    ],
)
def test_unknown_kinds_are_not_guessed(pre_tokenizer: Any) -> None:
    assert automaton_of(pre_tokenizer) is None


@pytest.mark.parametrize(
    "source", ["a??", "a*+", "(?=a)b", "a$", "^a", r"\ba", "a*", "(a", "a)", "(?!ab)c", r"\1", "[z-a]b"]
)
def test_unknown_expressions_are_refused(source: str) -> None:
    with pytest.raises(UnknownRegexError):
        parse_regex(source)


EXPRESSIONS = [
    r"a{2}b?|ab{1,2}|a|b|[^ab]",
    r"(?:ab)+|a|b|[^ab]+",
    r"(a|ab)(c|bcd)?|b|c|d|\s",
    r"a(?i:B)?|\s+(?!\S)|[^a]",
    r"(?:a|b{2,}){1,3}|b|[^ab]{2}|[^ab]",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_preferences_of_other_expressions(expression: str) -> None:
    pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(expression), "isolated"), byte_level(False)])
    automaton = automaton_of(pre_tokenizer)
    assert automaton is not None
    source = random.Random(5)
    for _ in range(300):
        text = "".join(source.choice("aabbcdB ") for _ in range(source.randint(1, 9)))
        assert automaton.pieces(text) == [text[a:b] for _, (a, b) in pre_tokenizer.pre_tokenize_str(text)]
