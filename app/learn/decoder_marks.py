"""Which arcs of the automaton of all encodings a decoder can take, from the rows of a `DecoderStudy`.

An arc of the automaton may stand on many paths. The decoder can take it if it can on one of them, and that path is one
it can take itself; every other arc is drawn dashed (ReLM, Figure 3).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.drawing import Marks, arc_name
from app.narrative import probability_text
from engine.counted import counted
from engine.pictures.graphs import Graph
from engine.studies.decoder_view import LEFT, PATH
from engine.studies.rows import rows_of


@dataclass(frozen=True)
class DecoderFound:
    """What to point out in the graph, and the sentences that say what came out. is_complete: every path was asked."""

    marks: Marks
    sentences: tuple[str, ...]
    is_complete: bool


def decoder_found(rows: Sequence[Mapping[str, Any]], graph: Graph) -> DecoderFound | None:
    """What the rows say of a graph whose states are those of the study's automaton; None while they say nothing."""
    paths = rows_of(rows, PATH)
    if not paths:
        return None
    left = rows_of(rows, LEFT)
    is_complete = bool(left) and not left[-1]["paths"]
    best: dict[tuple[int, int], float] = {}
    asked: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
    for path in paths:
        for arc in path["arcs"]:
            ends = path["state"], arc["target"]
            asked.setdefault(ends, []).append(arc)
            if arc["kept"]:
                score = -math.inf if arc["log_prob"] is None else arc["log_prob"]
                best[ends] = max(best.get(ends, -math.inf), score)
    styles: dict[tuple[int, int, str], str] = {}
    notes: dict[tuple[int, int, str], str] = {}
    for arc in graph.arcs:
        ends = arc.source, arc.target
        if ends in best:
            odds = probability_text(math.exp(best[ends]))
            if math.isfinite(best[ends]):  # without anything before it, a first token has no probability
                notes[arc_name(arc)] = f"The decoder can take it, with a probability of {odds} at best."
        elif ends in asked:
            styles[arc_name(arc)] = "cut"
            scores = [found["log_prob"] for found in asked[ends] if found["log_prob"] is not None]
            notes[arc_name(arc)] = (
                f"Its probability is {probability_text(math.exp(max(scores)))} at best, and others are likelier."
                if scores
                else ""
            )
        elif is_complete:
            styles[arc_name(arc)] = "cut"
            notes[arc_name(arc)] = "No path that the decoder can take leads here."
        else:
            styles[arc_name(arc)] = "frontier"
            notes[arc_name(arc)] = "No path through here was asked about yet."
    taken = len({(arc.source, arc.target) for arc in graph.arcs} & best.keys())
    ends_taken = [path for path in paths if path["final"]]
    sentences = [
        f"The decoder can take {taken:,} of the {counted(len(graph.arcs), 'arc')} drawn"
        + ("; the others are dashed." if is_complete else " so far; those that it cannot take are dashed."),
        f"It can write {counted(len(ends_taken), 'encoding')} of a match"
        + (", the likeliest being “" + str(ends_taken[0]["text"]) + "”." if ends_taken else "."),
    ]
    if left and not is_complete:
        sentences.append(
            f"Only the likeliest paths were asked about; {counted(left[-1]['paths'], 'path')} could be followed, "
            "so some arcs are open still."
        )
    return DecoderFound(Marks(arcs=styles, arc_notes=notes), tuple(sentences), is_complete)
