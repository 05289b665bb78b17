"""Drawn graphs against their automata: the same language, and right numbers for the parts left out."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.language.compile import compile_language, compile_regex
from relens.pictures.character_arcs import CharacterArcs
from relens.pictures.graphs import Graph, language_graph, token_graph
from relens.pictures.labels import token_label
from relens.query import Boundary, Encoding, Query
from relens.tokens.automaton import Arcs, TokenAutomaton
from relens.tokens.compiled import compile_query

PATTERNS = [
    "cat|cats|dog",
    "[a-c]{1,3}",
    "(ab|ba)*",
    "é|è|ê|ab",
    "[é-ë]x|[à-ÿ]y",
    "😀[😁-😅]?",
    "a.b",
    r"\d{2}",
    r"[^a-z]\w",
    "(?s:.)",
    "",
    "a?",
]
PROBES = ["", "a", "b", "é", "ë", "x", "😀", "😅", "\n", "٣", "5", "_", "ß", "\U0010ffff", "￿", "\ud7ff"]


def drawn_strings(graph: Graph, longest: int) -> set[str]:
    """Every string of at most so many characters that the drawn arcs spell, reading the labels as `re` would."""
    arcs = [(arc.source, arc.target, label_expression(arc.label)) for arc in graph.arcs]
    alphabet = [probe for probe in {*PROBES, *"abcdogtsxy"} if probe]
    accepted: set[str] = set()
    reached = {(graph.start, "")}
    for _ in range(longest + 1):
        accepted |= {text for state, text in reached if state in graph.finals}
        reached = {
            (target, text + character)
            for state, text in reached
            for source, target, expression in arcs
            if source == state
            for character in alphabet
            if expression.fullmatch(character)
        }
    return accepted


def label_expression(label: str) -> re.Pattern[str]:
    if label == "any character":
        return re.compile("(?s:.)")
    return re.compile(label.replace("␣", " ") if len(label) > 1 else re.escape(label.replace("␣", " ")))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_drawn_language_is_the_language(pattern):
    graph = language_graph(compile_regex(pattern))
    assert (graph.note, graph.unfinished) == ("", ())
    alphabet = [probe for probe in {*PROBES, *"abcdogtsxy"} if probe]
    expected = {
        "".join(text)
        for length in range(4)
        for text in itertools.product(alphabet, repeat=length)
        if re.fullmatch(pattern, "".join(text))
    }
    assert {text for text in drawn_strings(graph, 3) if len(text) <= 3} == expected


@pytest.mark.parametrize("pattern", PATTERNS)
def test_characters_are_whole(pattern):
    """No drawn state is inside a character: stepping the bytes of each end of each range gives the drawn target."""
    automaton = compile_regex(pattern)
    arcs = CharacterArcs(automaton)
    between, waiting = {0}, [0]
    for state in waiting:
        for target, ranges in arcs.leaving(state).items():
            for low, high in ranges:
                for code in {low, high, (low + high) // 2}:
                    assert automaton.run(chr(code).encode(), state) == target
            if target not in between:
                between.add(target)
                waiting.append(target)
    assert len(between) == arcs.states


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), st.text("aé😀", max_size=3))
def test_a_literal_is_a_chain_of_its_characters(text, prefix):
    whole = compile_language(Query(re.escape(text), prefix=re.escape(prefix))).whole
    graph = language_graph(whole)
    assert graph.shown_states == len(prefix + text) + 1
    assert [arc.count for arc in graph.arcs] == [1] * len(prefix + text)
    assert [arc.in_prefix for arc in graph.arcs] == [True] * len(prefix) + [False] * len(text)
    assert graph.total_arcs == len(prefix + text)


def spelled(graph: Graph) -> set[tuple[str, ...]]:
    """Every sequence of token labels of a finite drawn graph."""
    accepted: set[tuple[str, ...]] = set()
    reached: list[tuple[int, tuple[str, ...]]] = [(graph.start, ())]
    for state, labels in reached:
        if state in graph.finals:
            accepted.add(labels)
        reached += [
            (arc.target, (*labels, label))
            for arc in graph.arcs
            if arc.source == state
            for label in arc.label.split(", ")
        ]
    return accepted


def walked(automaton: TokenAutomaton, state: int | None = None, tokens: tuple[int, ...] = ()) -> set[tuple[int, ...]]:
    state = automaton.start if state is None else state
    accepted = {tokens} if automaton.is_final(state) else set()
    for token in automaton.arcs(state).tokens.tolist():
        accepted |= walked(automaton, automaton.step(state, token), (*tokens, token))
    return accepted


@pytest.mark.parametrize("encoding", list(Encoding))
@pytest.mark.parametrize("boundary", list(Boundary))
@pytest.mark.parametrize(("prefix", "pattern"), [("", "abab|cab"), ("ab", "[abc]b?"), ("a(b|c)?", "b(ab)?")])
def test_a_drawn_token_automaton_spells_its_token_sequences(byte_tokenizer, encoding, boundary, prefix, pattern):
    query = Query(pattern, prefix=prefix, encoding=encoding, prefix_encoding=encoding, boundary=boundary)
    automaton = compile_query(query, byte_tokenizer).automaton
    if automaton.needs_confirmation:
        pytest.skip("final states of this automaton are not yet matches")
    graph = token_graph(automaton, byte_tokenizer)
    assert graph.note == ""
    expected = {tuple(token_label(token, byte_tokenizer) for token in tokens) for tokens in walked(automaton)}
    assert spelled(graph) == expected
    assert expected
    assert {arc.in_prefix for arc in graph.arcs} == ({True, False} if prefix else {False})


class Wide(TokenAutomaton):
    """From every state `width` tokens lead to as many states; states are numbered by the sequences that reach them."""

    def __init__(self, width: int, depth: int) -> None:
        self.width, self.depth = width, depth

    def level(self, state: int) -> int:
        level = 0
        while state:
            state, level = (state - 1) // self.width, level + 1
        return level

    def arcs(self, state: int) -> Arcs:
        width = self.width if self.level(state) < self.depth else 0
        return Arcs(np.arange(width, dtype=np.int32), np.zeros(width, np.bool_))

    def step(self, state: int, token: int) -> int:
        return state * self.width + 1 + token

    def is_final(self, state: int) -> bool:
        return self.level(state) == self.depth


@pytest.mark.parametrize(("width", "depth"), [(3, 2), (5, 4), (50, 3), (5000, 2)])
def test_states_left_out_are_counted(byte_tokenizer, width, depth):
    graph = token_graph(Wide(width, depth), byte_tokenizer_of_size(byte_tokenizer, width), max_states=20)
    assert graph.shown_states <= 20 * 6 + 20
    leaving: dict[int, int] = {}
    for arc in graph.arcs:
        leaving[arc.source] = leaving.get(arc.source, 0) + arc.count
    finals_and_stubs = {*graph.finals, *graph.unfinished}
    for state in range(graph.shown_states):
        assert leaving.get(state, 0) == (0 if state in finals_and_stubs else width)
    assert bool(graph.note) == bool(graph.unfinished) == (width**depth > 9)
    assert {arc.target for arc in graph.arcs} == set(range(1, graph.shown_states))


def byte_tokenizer_of_size(tokenizer, size):
    """A stand-in that names any token: the automata above have more than the tokenizer."""

    class Named:
        vocabulary: Sequence[bytes] = [b"%d" % token for token in range(size)]

    return Named()


def test_chains_do_not_use_up_the_picture():
    literal = "it was a dark and stormy night and " * 3
    graph = language_graph(compile_regex(f"{literal}(cat|dog)"), max_states=20)
    assert graph.note == ""
    assert len(graph.finals) == 1


def test_a_graph_survives_json():
    graph = language_graph(compile_language(Query("(cat|dog)s*", prefix="The ")).whole)
    assert Graph.from_json(graph.to_json()) == graph
