"""The lattice of a text against every segmentation written out, and against the automaton of all encodings."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relens.errors import LimitError, QueryError
from relens.query import Encoding, Query
from relens.tokens.automaton import TokenAutomaton
from relens.tokens.compiled import compile_query
from relens.tokens.token_lattice import MOST_CHARACTERS, TokenLattice, token_lattice
from tests.engine.tokens.helpers import segmentations, spellings

TEXTS = ["a", "the", "The cats", "it's  42", "é日", "\n\n x", "aoeaoe", " the the", "<|endoftext|>"]


def paths(automaton: TokenAutomaton, state: int, known: dict[int, int]) -> int:
    """How many token sequences of a finite automaton are accepted from a state."""
    if state not in known:
        tokens = automaton.arcs(state).tokens.tolist()
        known[state] = int(automaton.is_final(state)) + sum(
            paths(automaton, automaton.step(state, token), known) for token in tokens
        )
    return known[state]


def written_out(lattice: TokenLattice) -> set[tuple[int, ...]]:
    """Every path of the lattice, by its tokens."""
    sequences, waiting = set(), [(0, ())]
    while waiting:
        place, tokens = waiting.pop()
        if place == len(lattice.spelled):
            sequences.add(tokens)
        waiting += [(arc.target, (*tokens, arc.token)) for arc in lattice.arcs if arc.source == place]
    return sequences


@pytest.mark.parametrize("text", TEXTS)
def test_its_paths_are_all_segmentations(trained, text):
    lattice = token_lattice(text, trained)
    expected = segmentations(trained.vocabulary.token_bytes, text.encode())
    assert written_out(lattice) == set(expected)
    assert lattice.count == len(expected)
    assert list(lattice.canonical) == trained.encode(text)
    assert TokenLattice.from_json(lattice.to_json()) == lattice


@pytest.mark.parametrize("text", ["The cat", "I'm  42 running", "café", "日本", "George Washington was born on July 4"])
def test_it_counts_as_many_as_the_automaton_has_paths(real, text):
    lattice = token_lattice(text, real)
    automaton = compile_query(Query(re.escape(text), encoding=Encoding.ALL), real).automaton
    assert lattice.count == paths(automaton, automaton.start, {})
    assert tuple(arc.token for arc in lattice.canonical_path) == lattice.canonical
    assert [lattice.canonical_path[0].source, lattice.canonical_path[-1].target] == [0, len(text.encode())]


@given(text=st.text(st.sampled_from("aeoth '\n1é"), min_size=1, max_size=9))
def test_every_text(small, text):
    lattice = token_lattice(text, small)
    expected = segmentations(small.vocabulary.token_bytes, text.encode())
    assert lattice.count == len(expected)
    assert lattice.count <= lattice.at_most == 2 ** (len(text.encode()) - 1)
    lengths = sorted(map(len, expected))
    fewest = lattice.fewest(5)
    assert [len(tokens) for tokens in fewest] == lengths[:5]
    assert len(set(fewest)) == len(fewest)
    assert set(fewest) <= set(expected)


def test_every_piece_a_token_makes_a_power_of_two(byte_tokenizer):
    text = "cab"
    vocabulary = byte_tokenizer.vocabulary
    everything = {text[begin:end] for begin in range(3) for end in range(begin + 1, 4)}
    if everything <= {(spelled or b"").decode("latin-1") for spelled in vocabulary.token_bytes}:
        assert token_lattice(text, byte_tokenizer).count == 4
    # A word of 120 letters: more encodings than could ever be written out, counted all the same.
    long = token_lattice("ab" * 60, byte_tokenizer)
    ways = [1, 1]
    pieces = {spelled.decode() for spelled in vocabulary.token_bytes if spelled and spelled.isascii()}
    for end in range(2, 121):
        text = ("ab" * 60)[:end]
        ways.append(sum(ways[end - size] for size in range(1, min(end, 12) + 1) if text[end - size :] in pieces))
    assert long.count == ways[120] > 10**15


def test_other_families(other):
    for text in ("the cat", " the", "cat dog"):
        lattice = token_lattice(text, other)
        expected = spellings(other, frozenset([text.encode()]), Encoding.ALL)
        assert written_out(lattice) == expected
        assert lattice.count == len(expected)
        if lattice.canonical is not None:
            assert list(lattice.canonical) == other.encode(text)
            assert lattice.canonical in expected
        else:
            assert tuple(other.encode(text)) not in expected


def test_texts_that_are_refused(small):
    for text, error in (("", QueryError), ("a\ud800", QueryError), ("a" * (MOST_CHARACTERS + 1), LimitError)):
        with pytest.raises(error):
            token_lattice(text, small)
    assert token_lattice("the " * (MOST_CHARACTERS // 4), small).count > 1


def test_bytes_without_a_token_make_no_dead_ends(smollm2):
    missing = {byte for byte in range(256) if not smollm2.vocabulary.single_bytes[byte]}
    hidden = next(text for text in map(chr, range(0x10000)) if missing & set(text.encode()))
    lattice = token_lattice(f"a{hidden}b", smollm2)
    assert written_out(lattice) == set(segmentations(smollm2.vocabulary.token_bytes, f"a{hidden}b".encode()))
    assert (lattice.canonical is None) == (lattice.count == 0)
