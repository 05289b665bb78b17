"""An automaton as a picture: `Graph` to DOT, and DOT to SVG.

    Graph(0 --T--> 1 --h--> 2 --e--> 3, final 3)        digraph { 0 -> 3 [label="The"]; 3 [shape=doublecircle] }

The states of a literal such as `George Washington` say nothing that one arc with the whole text does not, so chains
are joined first: a state with one arc in, one arc out, and nothing else to tell is left out. What is left keeps the
number it had.

Labels are untrusted text. DOT is text too, with its own escapes, entities and HTML-like labels; a label must not
become any of these. `dot` runs in a process of its own with a time limit, on DOT that only this module writes, and
colours are left to the page: nodes and arcs carry classes ("prefix", "final", "unfinished"), not colours.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from functools import lru_cache

from app.text import shortened
from engine.runs.preview import Graph, GraphArc

#: A drawn label is wrapped at this many characters and cut after this many lines.
_LABEL_WIDTH = 28
_LABEL_LINES = 4
#: Longer labels, such as lists of tokens, are not joined with others.
_JOINABLE = 24

_INVALID_IN_XML = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")

#: Comments, fonts and colours in the SVG of `dot`. Labels cannot be taken for them: their `<` and quotes are escaped.
_LOOKS = re.compile(r'<!-- .*? -->\n|(?: (?:font-family|font-size|stroke|fill)="(?:monospace|[\d.]+|black|none)")')


def join_chains(graph: Graph, separator: str = "") -> Graph:
    """`graph` without the states in the middle of chains; their labels are joined with `separator`.

    A chain is never joined across the end of the prefix, nor through a state that is the start, final, or unfinished.
    The remaining states keep their numbers, so `shown_states` is still the largest number plus one.
    """
    arriving: dict[int, list[GraphArc]] = {}
    leaving: dict[int, list[GraphArc]] = {}
    for arc in graph.arcs:
        arriving.setdefault(arc.target, []).append(arc)
        leaving.setdefault(arc.source, []).append(arc)
    fixed = {graph.start, *graph.finals, *graph.unfinished}

    def inner(state: int) -> bool:
        before, after = arriving.get(state, []), leaving.get(state, [])
        return (
            state not in fixed
            and len(before) == len(after) == 1
            and before[0].in_prefix == after[0].in_prefix
            and max(len(before[0].label), len(after[0].label)) <= _JOINABLE
            and before[0].count == after[0].count == 1
        )

    joined: list[GraphArc] = []
    for arc in graph.arcs:
        if inner(arc.source):
            continue  # it belongs to the chain that arrives at its source
        labels, target = [arc.label], arc.target
        while inner(target):
            (following,) = leaving[target]
            labels.append(following.label)
            target = following.target
        joined.append(replace(arc, target=target, label=separator.join(labels)))
    return replace(graph, arcs=tuple(joined))


def nearest(graph: Graph, most_states: int) -> Graph:
    """`graph` with only the `most_states` states that are nearest to the start, for a picture one can take in.

    Everything that a state leads to beyond them becomes one arc to a state marked as unfinished, and the note says so.
    """
    leaving: dict[int, list[GraphArc]] = {}
    for arc in graph.arcs:
        leaving.setdefault(arc.source, []).append(arc)
    order = [graph.start]
    seen = {graph.start}
    for state in order:
        for arc in leaving.get(state, []):
            if arc.target not in seen:
                seen.add(arc.target)
                order.append(arc.target)
    if len(order) <= most_states:
        return graph
    kept = set(order[:most_states])
    arcs = [arc for arc in graph.arcs if arc.source in kept and arc.target in kept]
    beyond = graph.shown_states
    unfinished = [state for state in graph.unfinished if state in kept]
    for state in order[:most_states]:
        cut = [arc for arc in leaving.get(state, []) if arc.target not in kept]
        if cut:
            label = cut[0].label if len(cut) == 1 else f"{len(cut)} arcs"
            in_prefix = all(arc.in_prefix for arc in cut)
            arcs.append(GraphArc(state, beyond, label, sum(arc.count for arc in cut), in_prefix))
            unfinished.append(beyond)
            beyond += 1
    note = f"The {most_states} states nearest to the start are drawn; one marked … stands for what lies beyond it."
    return replace(
        graph,
        arcs=tuple(arcs),
        finals=tuple(state for state in graph.finals if state in kept),
        unfinished=tuple(unfinished),
        shown_states=beyond,
        note=note,
    )


def graph_to_dot(graph: Graph) -> str:
    """DOT text of `graph`, left to right, with classes instead of colours; see the module for what is escaped."""
    states = sorted({graph.start, *(arc.source for arc in graph.arcs), *(arc.target for arc in graph.arcs)})
    finals, unfinished = set(graph.finals), set(graph.unfinished)
    in_prefix = {arc.target for arc in graph.arcs if arc.in_prefix} | {
        graph.start for arc in graph.arcs if arc.in_prefix and arc.source == graph.start
    }
    lines = [
        "digraph automaton {",
        'rankdir=LR; bgcolor="transparent"; ranksep=0.35; nodesep=0.18; margin=0.06;',
        'node [shape=circle, fontname="monospace", fontsize=10, width=0.32, height=0.32, margin=0.02, fixedsize=true];',
        'edge [fontname="monospace", fontsize=12, arrowsize=0.6];',
        'entry [shape=point, width=0.05, height=0.05, label="", class="entry"];',
        f'entry -> {graph.start} [class="entry"];',
    ]
    for state in states:
        classes = " ".join(
            name
            for name, holds in (
                ("prefix", state in in_prefix),
                ("final", state in finals),
                ("unfinished", state in unfinished),
            )
            if holds
        )
        shape = "doublecircle" if state in finals else "circle"
        style = ', style="dashed"' if state in unfinished else ""
        name = "…" if state in unfinished else state
        lines.append(f'{state} [label="{name}", shape={shape}, class="{classes}"{style}];')
    for arc in graph.arcs:
        name = "prefix" if arc.in_prefix else ""
        lines.append(f'{arc.source} -> {arc.target} [label="{quoted_label(arc.label)}", class="{name}"];')
    return "\n".join([*lines, "}"]) + "\n"


def quoted_label(label: str) -> str:
    """`label` for between double quotes in DOT: wrapped, cut, and with nothing left that DOT would interpret.

    DOT reads `\\N`, `\\G`, `\\l` and the like as its own, and `&lt;` as an entity; a quote would end the label.
    """
    lines = wrapped(_INVALID_IN_XML.sub("\ufffd", label))
    escaped = (line.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return "\\n".join(escaped)


def wrapped(text: str, width: int = _LABEL_WIDTH, most_lines: int = _LABEL_LINES) -> list[str]:
    """`text` in lines of about `width` characters, broken after a blank where there is one, with an ellipsis if cut."""
    lines: list[str] = []
    while len(text) > width and len(lines) < most_lines:
        at = max(text.rfind(blank, width // 2, width) for blank in " ␣·") + 1
        lines.append(text[: at or width].rstrip(" "))
        text = text[at or width :].lstrip(" ")
    if len(lines) < most_lines:
        return [*lines, text]
    if text:
        lines[-1] = shortened(lines[-1] + text, max(len(lines[-1]), 1))
    return lines


@lru_cache(maxsize=512)
def layout(dot: str, timeout: float = 5.0) -> str | None:
    """The SVG that `dot` lays out, or None where it is not installed, fails, or takes more than `timeout` seconds."""
    program = shutil.which("dot")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, "-Tsvg"], input=dot.encode("utf-8", "replace"), capture_output=True, timeout=timeout, check=True
        )
    except (subprocess.SubprocessError, OSError):
        return None
    text = done.stdout.decode("utf-8", "replace")
    # The viewer wants the drawing alone: no XML declaration, no document type, no comments, none of dot's own looks.
    start = text.find("<svg")
    return _LOOKS.sub("", text[start:]) if start >= 0 else None
