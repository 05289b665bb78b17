"""The arcs of the automaton of all encodings that a decoder can take, drawn and in sentences.

A drawn arc may stand on many paths. The decoder can take it if it can on one of them, and if it can take that path;
every other arc is dashed (ReLM, Figure 3).
"""

from __future__ import annotations

import math

from relens.counted import counted
from relens.pictures.drawing import ArcName, Marks, arc_name
from relens.pictures.graphs import Graph
from relens.studies.decoder_view import DecoderFindings, Ends
from relens_dashboard.narrative import probability_text


def decoder_marks(findings: DecoderFindings, graph: Graph) -> Marks:
    """Dashed and open arcs, with notes, of a graph whose states are those of the study's automaton."""
    styles: dict[ArcName, str] = {}
    notes: dict[ArcName, str] = {}
    for arc in graph.arcs:
        style, note = _mark(findings, (arc.source, arc.target))
        if style:
            styles[arc_name(arc)] = style
        if note:
            notes[arc_name(arc)] = note
    return Marks(arcs=styles, arc_notes=notes)


def _mark(findings: DecoderFindings, ends: Ends) -> tuple[str, str]:
    """Style and note of one arc; "" for none. A first token without anything before it has no probability."""
    log_prob = findings.kept.get(ends, findings.cut.get(ends, -math.inf))
    probability = probability_text(math.exp(log_prob)) if math.isfinite(log_prob) else ""
    if ends in findings.kept:
        return "", probability and f"The decoder can take it, with a probability of {probability} at best."
    if ends in findings.cut:
        return "cut", probability and f"Its probability is {probability} at best, and others are likelier."
    if findings.is_complete:
        return "cut", "No path that the decoder can take leads here."
    return "frontier", "No path through here is scored yet."


def decoder_sentences(findings: DecoderFindings, graph: Graph) -> tuple[str, ...]:
    """How much of the graph the decoder can take, how many encodings it can write, and how many paths are left open."""
    taken = len({(arc.source, arc.target) for arc in graph.arcs} & findings.kept.keys())
    dashed = "; the others are dashed" if findings.is_complete else " so far; those that it cannot take are dashed"
    likeliest = f", the likeliest being “{findings.likeliest}”" if findings.encodings else ""
    sentences = (
        f"The decoder can take {taken:,} of the {counted(len(graph.arcs), 'arc')} drawn{dashed}.",
        f"It can write {counted(findings.encodings, 'encoding')} of a match{likeliest}.",
    )
    if not findings.open_paths:
        return sentences
    return (
        *sentences,
        f"Only the likeliest paths were scored; {counted(findings.open_paths, 'path')} could be followed, so some arcs"
        " are still open.",
    )
