"""The dashed arcs of made rows with one of every case."""

from __future__ import annotations

import math

from relens.pictures.graphs import Graph, GraphArc
from relens.studies.decoder_view import DecoderStudy, decoder_findings
from relens.studies.rows import BEGIN
from relens_dashboard.learn.decoder_marks import decoder_marks, decoder_sentences

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


def findings_of(rows):
    return decoder_findings(rows, DecoderStudy())


def test_without_rows_there_is_no_path():
    assert not findings_of([]).paths
    assert not findings_of(ROWS[:1]).paths


def test_cut_arcs_and_those_below_them_are_dashed():
    findings = findings_of([*ROWS, *END])
    assert findings.is_complete
    marks = decoder_marks(findings, GRAPH)
    assert marks.arcs == {(0, 2, "b"): "cut", (2, 3, "d"): "cut"}
    assert "No path" in marks.arc_notes[2, 3, "d"]
    assert "50 %" in marks.arc_notes[0, 1, "a"]
    assert "100 %" in marks.arc_notes[1, 3, "c"]
    assert "0.10 %" in marks.arc_notes[0, 2, "b"]
    assert decoder_sentences(findings, GRAPH) == (
        "The decoder can take 2 of the 4 arcs drawn; the others are dashed.",
        "It can write 1 encoding of a match, the likeliest being “ac”.",
    )


def test_arcs_without_a_score_are_open_until_the_walk_has_ended():
    findings = findings_of(ROWS)
    assert not findings.is_complete
    assert decoder_marks(findings, GRAPH).arcs == {(0, 2, "b"): "cut", (2, 3, "d"): "frontier"}
    left = findings_of([*ROWS, {"unit": "automaton", "row": "left", "paths": 9}])
    assert "9 paths could be followed" in decoder_sentences(left, GRAPH)[-1]


def test_an_arc_that_one_path_can_take_is_not_dashed():
    again = path(2, 0, False, (2, math.log(0.2), True))
    assert (0, 2, "b") not in decoder_marks(findings_of([*ROWS, again, *END]), GRAPH).arcs


def test_a_first_token_after_nothing_has_no_probability():
    marks = decoder_marks(findings_of([ROWS[0], path(0, 0, False, (1, None, True), (2, None, True)), *END]), GRAPH)
    assert (0, 1, "a") not in marks.arc_notes
    assert (0, 1, "a") not in marks.arcs
