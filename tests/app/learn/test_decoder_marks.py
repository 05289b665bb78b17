"""Which arcs are dashed: on rows written by hand, where every case can be seen."""

from __future__ import annotations

import math

from app.learn.decoder_marks import decoder_found
from engine.pictures.graphs import Graph, GraphArc
from engine.studies.rows import BEGIN

ARCS = [(0, 1, "a"), (0, 2, "b"), (1, 3, "c"), (2, 3, "d")]
GRAPH = Graph(0, (3,), 4, tuple(GraphArc(*arc[:2], arc[2], 1, False) for arc in ARCS), (), 4, 4, "")


def path(number, state, final, *arcs, text=""):
    legal = [{"token": 7, "target": target, "log_prob": score, "kept": kept} for target, score, kept in arcs]
    return {"unit": "automaton", "row": "path", "path": number, "tokens": [], "text": text, "state": state,
            "final": final, "log_prob": 0.0, "arcs": legal}  # fmt: skip


ROWS = [
    {"unit": "automaton", "row": BEGIN},
    path(0, 0, False, (1, math.log(0.5), True), (2, math.log(0.001), False)),
    path(1, 1, False, (3, 0.0, True)),
]
END = [path(2, 3, True, text="ac"), {"unit": "automaton", "row": "left", "paths": 0}]


def test_nothing_is_said_before_there_are_rows():
    assert decoder_found([], GRAPH) is None
    assert decoder_found(ROWS[:1], GRAPH) is None


def test_cut_arcs_and_those_below_them_are_dashed():
    found = decoder_found([*ROWS, *END], GRAPH)
    assert found.is_complete
    assert found.marks.arcs == {(0, 2, "b"): "cut", (2, 3, "d"): "cut"}
    assert "No path" in found.marks.arc_notes[2, 3, "d"]
    assert "50 %" in found.marks.arc_notes[0, 1, "a"]
    assert "100 %" in found.marks.arc_notes[1, 3, "c"]
    assert "0.10 %" in found.marks.arc_notes[0, 2, "b"]
    assert found.sentences[0] == "The decoder can take 2 of the 4 arcs drawn; the others are dashed."
    assert found.sentences[1] == "It can write 1 encoding of a match, the likeliest being “ac”."


def test_while_it_goes_on_what_was_not_asked_is_open():
    found = decoder_found(ROWS, GRAPH)
    assert not found.is_complete
    assert found.marks.arcs == {(0, 2, "b"): "cut", (2, 3, "d"): "frontier"}
    left = decoder_found([*ROWS, {"unit": "automaton", "row": "left", "paths": 9}], GRAPH)
    assert "9 paths could be followed" in left.sentences[-1]


def test_an_arc_that_one_path_can_take_is_not_dashed():
    again = path(2, 0, False, (2, math.log(0.2), True))
    assert (0, 2, "b") not in decoder_found([*ROWS, again, *END], GRAPH).marks.arcs


def test_a_first_token_after_nothing_has_no_probability():
    rows = [ROWS[0], path(0, 0, False, (1, None, True), (2, None, True)), *END]
    found = decoder_found(rows, GRAPH)
    assert (0, 1, "a") not in found.marks.arc_notes
    assert (0, 1, "a") not in found.marks.arcs
