"""The lattice's marks and the words about its size."""

from __future__ import annotations

import html
import re

import pytest

from relens.learn.text_encodings import Piece, text_encodings
from relens_dashboard.learn.tokens_drawing import (
    count_sentence,
    count_words,
    encodings_marks,
    encodings_picture,
    pieces_html,
)


@pytest.fixture
def encodings(byte_tokenizer):
    return text_encodings("the cab", byte_tokenizer)


def test_the_canonical_path_is_marked_and_every_other_token_explained(encodings):
    marks = encodings_marks(encodings)
    for arc, drawn in zip(encodings.graph.arcs, encodings.arcs, strict=True):
        name = (arc.source, arc.target, arc.label)
        assert marks.arcs.get(name) == ("canonical" if drawn.is_canonical else None)
        assert marks.arc_notes[name] == (drawn.why or "This token is in the canonical encoding.")
    on_path = {0}
    for arc, drawn in zip(encodings.graph.arcs, encodings.arcs, strict=True):
        if drawn.is_canonical:
            on_path |= {arc.source, arc.target}
    assert {state for state, word in marks.states.items() if word == "canonical"} == on_path
    assert [marks.state_names[state] for state in range(8)] == ["·", *"the", "␣", *"cab"]
    assert set(marks.state_notes) == {3}, "the tokenizer cuts before the space"


def test_the_picture_has_every_arc(encodings):
    picture = encodings_picture(encodings)
    assert picture.graph == encodings.graph
    if picture.svg is not None:
        drawn = re.findall(r'id="arc-(\d+)"', html.unescape(picture.svg))
        assert sorted(map(int, drawn)) == list(range(len(encodings.graph.arcs)))


def test_tokens_are_escaped():
    chips = pieces_html([Piece(7, "<img src=x>", True)])
    assert "<img" not in chips
    assert "&lt;img" in chips
    assert "<small>7</small>" in chips


def test_counts_in_words(byte_tokenizer, encodings):
    sentence = count_sentence(encodings)
    assert f"7 bytes has {encodings.count} encodings" in sentence
    assert "2^6 = 64" in sentence
    assert count_sentence(text_encodings("c", byte_tokenizer)) == "This text of one byte has 1 encoding."
    assert (count_words(999), count_words(2**20), count_words(2**199)) == ("999", "1,048,576", "8.0 × 10^59")
