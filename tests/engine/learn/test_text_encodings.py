"""The picture of a text's encodings against its lattice."""

from __future__ import annotations

import pytest

from relens.errors import LimitError, ModelError, QueryError
from relens.learn.jobs import text_encodings_job
from relens.learn.text_encodings import TextEncodings, text_encodings
from relens.tokens.token_lattice import token_lattice


def test_the_picture_has_the_arcs_of_the_lattice(byte_tokenizer):
    encodings = text_encodings("the cab", byte_tokenizer)
    lattice = token_lattice("the cab", byte_tokenizer)
    assert (encodings.count, encodings.at_most) == (lattice.count, 2**6)
    drawn = {(arc.source, arc.target) for arc in encodings.graph.arcs}
    assert drawn == {(arc.source, arc.target) for arc in lattice.arcs}
    assert sum(arc.count for arc in encodings.graph.arcs) == encodings.graph.total_arcs == len(lattice.arcs)
    assert (encodings.graph.start, encodings.graph.finals) == (0, (7,))
    assert encodings.names == ("·", "t", "h", "e", "␣", "c", "a", "b")
    canonical = {(arc.source, arc.target) for arc in lattice.canonical_path}
    for arc, drawn_arc in zip(encodings.graph.arcs, encodings.arcs, strict=True):
        assert drawn_arc.is_canonical == ((arc.source, arc.target) in canonical)
        assert bool(drawn_arc.why) != drawn_arc.is_canonical
    assert [piece.token for piece in encodings.canonical] == byte_tokenizer.encode("the cab")
    assert all(piece.in_canonical for piece in encodings.canonical)
    assert TextEncodings.from_json(encodings.to_json()) == encodings


def test_pieces_of_other_encodings_have_their_canonical_tokens(byte_tokenizer):
    encodings = text_encodings("the cab", byte_tokenizer)
    canonical = {(arc.source, arc.token) for arc in token_lattice("the cab", byte_tokenizer).canonical_path}
    for pieces in encodings.fewest:
        place = 0
        for piece in pieces:
            assert piece.in_canonical == ((place, piece.token) in canonical)
            place += len(byte_tokenizer.vocabulary[piece.token])
        assert place == 7


def test_a_long_text_is_counted_whole_and_drawn_in_part(byte_tokenizer):
    text = "the cat sat " * 5
    encodings = text_encodings(text, byte_tokenizer, drawn_characters=12)
    assert encodings.count == token_lattice(text, byte_tokenizer).count
    assert encodings.graph.shown_states == 13
    assert "first 12 of 60 characters" in encodings.graph.note
    assert max(arc.target for arc in encodings.graph.arcs) == 12


def test_states_inside_a_character_are_named_by_their_bytes(byte_tokenizer):
    assert text_encodings("aé\n", byte_tokenizer).names == ("·", "a", "\\xc3", "é", "\\n")


def test_the_job(tmp_path, byte_tokenizer, monkeypatch):
    monkeypatch.setenv("RELENS_MODELS", "*")
    with pytest.raises(ModelError):
        text_encodings_job({"text": "a", "model": "no-such-model"})
    for text, error in (("", QueryError), ("x" * 201, LimitError)):
        with pytest.raises(error):
            text_encodings(text, byte_tokenizer)
