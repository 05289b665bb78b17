"""An automaton as a picture: `Graph` to DOT, and DOT to SVG.

    Graph(0 --T--> 1 --h--> 2 --e--> 3, final 3)        digraph { 0 -> 3 [label="The"]; 3 [shape=doublecircle] }

The states of a literal such as `George Washington` add nothing to one arc with the whole text. So chains are joined
first: a state with one arc in, one arc out and no mark is left out. The other states keep their numbers.

Labels are untrusted text. DOT is text too, with its own escapes, entities and HTML-like labels; a label must not
become any of these. `dot` runs in a process of its own with a time limit, on DOT that only this module writes, and
colours are left to style sheets: nodes and arcs carry classes ("prefix", "final", "unfinished"), not colours. The page
has its theme for them; `standalone_svg` puts them into a file that needs no page.

A lesson or a replay points out states and arcs with `Marks`: new, cut, on the frontier. Each mark has a colour on the
page, and here a line, a weight or an arrow head of its own for readers who do not see the colour.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Final

from relens.assets import ASSETS
from relens.pictures.graphs import Graph, GraphArc

#: A drawn label is wrapped at this many characters and cut after this many lines.
_LABEL_WIDTH = 28
_LABEL_LINES = 4
#: Longer labels, such as lists of tokens, are not joined with others.
_JOINABLE = 24

#: Settings for a quick `dot`: a random automaton of 150 states and 300 arcs takes 2 s with them, and 12 s without.
_HURRIED = "splines=line; mclimit=0.3; nslimit=1; nslimit1=1;"

#: An arc as `Marks` names it: source, target, label.
ArcName = tuple[int, int, str]


@dataclass(frozen=True)
class Style:
    """How a mark is drawn, and its meaning in words. `node`, `edge`: attributes in DOT."""

    node: str
    edge: str
    meaning: str


#: The marks by name, the strongest first: a state or arc that could have two gets the first.
STYLES: Final[Mapping[str, Style]] = {
    "current": Style("penwidth=3.2", "penwidth=3.2, arrowsize=0.8", "looked at in this step"),
    "new": Style("penwidth=2.4", "penwidth=2.4, arrowhead=vee, arrowsize=0.8", "new in this step"),
    "removed": Style('style="dotted"', 'style="dotted", arrowhead=onormal', "removed in this step"),
    "cut": Style('style="dashed"', 'style="dashed", arrowhead=tee', "cut: it cannot be taken"),
    "match": Style("penwidth=2.2", "penwidth=2.2, arrowhead=dot", "part of a match"),
    "frontier": Style('penwidth=1.8, style="dashed"', "penwidth=1.8, arrowhead=onormal", "on the frontier: open"),
    "canonical": Style("penwidth=2", "penwidth=2, arrowhead=diamond", "part of the canonical encoding"),
    "muted": Style("penwidth=0.6", "penwidth=0.6", "not part of what is shown here"),
}


@dataclass(frozen=True)
class Marks:
    """Marks of states and arcs in a graph, by their names in `STYLES`; arcs are named by `(source, target, label)`.

    state_names: text in a state's ellipse instead of its number in a circle. state_notes, arc_notes: plain text that
    the viewer shows with the details of the state or arc. Marks of states and arcs outside the graph are ignored.
    """

    states: Mapping[int, str] = field(default_factory=dict)
    arcs: Mapping[ArcName, str] = field(default_factory=dict)
    state_names: Mapping[int, str] = field(default_factory=dict)
    state_notes: Mapping[int, str] = field(default_factory=dict)
    arc_notes: Mapping[ArcName, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = ({*self.states.values()} | {*self.arcs.values()}) - STYLES.keys()
        if unknown:
            raise ValueError(f"No such mark: {', '.join(sorted(unknown))}.")

    @property
    def touched(self) -> frozenset[int]:
        """The states that are marked, or whose arcs are: no chain is joined through them."""
        ends = {state for name in (*self.arcs, *self.arc_notes) for state in name[:2]}
        return frozenset({*self.states, *self.state_names, *self.state_notes} | ends)


#: Nothing in particular to look at.
NO_MARKS: Final = Marks()


def arc_name(arc: GraphArc) -> ArcName:
    """How `Marks` names an arc."""
    return arc.source, arc.target, arc.label


_INVALID_IN_XML = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")

#: Comments, fonts and colours in the SVG of `dot`. Labels cannot be taken for them: their `<` and quotes are escaped.
_LOOKS = re.compile(
    r'^<!-- .* -->\n|(?: (?:font-family|font-size|stroke|fill)="(?:monospace|[\d.]+|black|none)")', re.MULTILINE
)


#: A colour among the variables of the viewer's style sheet.
_COLOUR = re.compile(r"--([a-z]+): (#[0-9A-F]{6});")


def join_chains(graph: Graph, separator: str = "", kept: Collection[int] = ()) -> Graph:
    """`graph` without the states in the middle of chains; their labels are joined with `separator`.

    A chain is never joined across the end of the prefix, nor through a state that is the start, final, unfinished or
    one of `kept`.
    The remaining states keep their numbers, so `shown_states` is still the largest number plus one.
    """
    arriving: dict[int, list[GraphArc]] = {}
    leaving: dict[int, list[GraphArc]] = {}
    for arc in graph.arcs:
        arriving.setdefault(arc.target, []).append(arc)
        leaving.setdefault(arc.source, []).append(arc)
    fixed = {graph.start, *graph.finals, *graph.unfinished, *kept}

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
    """`graph` with only the `most_states` states nearest to the start, for a picture of a readable size.

    All arcs from one state to states further away become one arc to an unfinished state; the note gives the numbers.
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
    left_out = sum(arc.source not in kept or arc.target not in kept for arc in graph.arcs)
    note = (
        f"The {most_states} states nearest to the start are drawn; {len(order) - most_states:,} states and "
        f"{left_out:,} arcs are not. A state marked … stands for all that follow."
    )
    if graph.unfinished:
        note += " The automaton has more states than these."
    return replace(
        graph,
        arcs=tuple(arcs),
        finals=tuple(state for state in graph.finals if state in kept),
        unfinished=tuple(unfinished),
        shown_states=beyond,
        note=note,
    )


def graph_to_dot(graph: Graph, marks: Marks = NO_MARKS, hurried: bool = False) -> str:
    """DOT text of `graph`, left to right, with classes instead of colours and all labels escaped (see the module).

    A state's node has the id `state-7`, an arc's edge `arc-3` for its place in `graph.arcs`. Their classes are their
    kinds ("prefix", "final", "unfinished") and their marks. hurried: straight arcs and fewer attempts to separate
    them, for a graph too entangled for a good layout in time.
    """
    lines = [
        "digraph automaton {",
        *([_HURRIED] if hurried else []),
        'rankdir=LR; bgcolor="transparent"; ranksep=0.35; nodesep=0.18; margin=0.06;',
        'node [shape=circle, fontname="monospace", fontsize=10, width=0.32, height=0.32, margin=0.02, fixedsize=true];',
        'edge [fontname="monospace", fontsize=12, arrowsize=0.6];',
        'entry [shape=point, width=0.05, height=0.05, label="", class="entry"];',
        f'entry -> {graph.start} [class="entry"];',
    ]
    in_prefix = prefix_states(graph)
    finals, unfinished = set(graph.finals), set(graph.unfinished)
    for state in drawn_states(graph):
        what = {"prefix": state in in_prefix, "final": state in finals, "unfinished": state in unfinished}
        lines.append(_node(state, [name for name, holds in what.items() if holds], marks))
    lines += [_edge(place, arc, marks) for place, arc in enumerate(graph.arcs)]
    return "\n".join([*lines, "}"]) + "\n"


def drawn_states(graph: Graph) -> list[int]:
    """The states that a picture of `graph` has, ascending: joined chains leave gaps."""
    return sorted({graph.start, *(arc.source for arc in graph.arcs), *(arc.target for arc in graph.arcs)})


def prefix_states(graph: Graph) -> set[int]:
    """The states that the query's prefix runs through."""
    given = [arc for arc in graph.arcs if arc.in_prefix]
    return {arc.target for arc in given} | {graph.start for arc in given if arc.source == graph.start}


def _node(state: int, classes: list[str], marks: Marks) -> str:
    mark, name = marks.states.get(state), marks.state_names.get(state)
    label = quoted_label(name) if name is not None else "…" if "unfinished" in classes else str(state)
    attributes = [f'id="state-{state}"', f'label="{label}"', f'class="{" ".join([*classes, *filter(None, [mark])])}"']
    if name is not None:
        attributes += ["shape=ellipse", "fixedsize=false", "margin=0.06", f"peripheries={1 + ('final' in classes)}"]
    else:
        attributes.append("shape=doublecircle" if "final" in classes else "shape=circle")
    if mark is not None:
        attributes.append(STYLES[mark].node)
    elif "unfinished" in classes:
        attributes.append('style="dashed"')
    elif "final" in classes:
        attributes.append("penwidth=1.6")
    return f"{state} [{', '.join(attributes)}];"


def _edge(place: int, arc: GraphArc, marks: Marks) -> str:
    mark = marks.arcs.get(arc_name(arc))
    classes = " ".join([*(["prefix"] if arc.in_prefix else []), *filter(None, [mark])])
    attributes = [f'id="arc-{place}"', f'label="{quoted_label(arc.label)}"', f'class="{classes}"']
    if mark is not None:
        attributes.append(STYLES[mark].edge)
    return f"{arc.source} -> {arc.target} [{', '.join(attributes)}];"


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
        lines[-1] = lines[-1][:-1] + "…"
    return lines


def standalone_svg(graph: Graph, marks: Marks = NO_MARKS) -> str | None:
    """The drawing of `graph` with the colours of the light theme, for a file or a notebook; None as for `layout`."""
    svg = layout(graph_to_dot(graph, marks))
    if svg is None:
        return None
    start, rest = svg.split(">", 1)
    return f"{start}><style>{_light_style()}</style>{rest}"


@cache
def _light_style() -> str:
    """The style sheet of a drawing, after the colours that the viewer has in the light theme."""
    viewer = (ASSETS / "automaton_view" / "view.css").read_text(encoding="utf-8")
    frame = viewer[: viewer.index(".frame.dark")]
    colours = {"ink": "#1C2733", "paper": "#FBFBF9", "code-font": "monospace"} | dict(_COLOUR.findall(frame))
    variables = " ".join(f"--{name}: {value};" for name, value in colours.items())
    drawing = (ASSETS / "automaton_view" / "drawing.css").read_text(encoding="utf-8")
    return f"svg {{ {variables} background: var(--paper); }}\n{drawing}"


def has_dot() -> bool:
    """Whether Graphviz is installed here."""
    return shutil.which("dot") is not None


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
    # The viewer takes the drawing alone: no XML declaration, document type or comments, no fonts and colours of dot.
    start = text.find("<svg")
    return _LOOKS.sub("", text[start:]) if start >= 0 else None
