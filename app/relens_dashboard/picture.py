"""One automaton, drawn: the data of the viewer.

    Graph(0 --T--> 1 --he--> 3, final 3)   ->   SVG of dot      two circles, two arrows
                                                details         "State 3: a match may end here; in: he from 1"
                                                note            how many states and arcs are left out

The details travel with the drawing, so that the browser alone answers a click. They are plain text; the viewer never
reads them as anything else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypedDict

from relens.counted import counted
from relens.pictures.drawing import (
    NO_MARKS,
    STYLES,
    Marks,
    arc_name,
    drawn_states,
    graph_to_dot,
    has_dot,
    join_chains,
    layout,
    nearest,
    prefix_states,
)
from relens.runs.preview import Graph, GraphArc

#: Nobody reads more states than this, and `dot` takes seconds for them.
MOST_STATES = 300
#: Where `dot` takes longer than this, it gets an easier task: straight arcs, then half as many states.
_SECONDS = 3.0
_FEWEST_STATES = 40
#: Arcs listed for each state.
_LISTED_ARCS = 12


class Detail(TypedDict):
    """One state or arc in the viewer. label: its text for the search, and for screen readers."""

    title: str
    label: str
    lines: list[str]


@dataclass(frozen=True)
class Picture:
    """One automaton, drawn: DOT, its layout where `dot` is installed, and a note on what is left out.

    graph: the drawn states and arcs, after joining and cutting; an arc's number is its place in `graph.arcs`.
    details: by the id in the drawing, `state-7` or `arc-3`.
    """

    dot: str
    svg: str | None
    note: str
    graph: Graph
    details: dict[str, Detail] = field(default_factory=dict)


def picture_of(
    graph: Graph, marks: Marks = NO_MARKS, most_states: int | None = None, separator: str | None = None
) -> Picture:
    """Lay out `graph` with its marks; takes as long as `dot` does, some seconds at most.

    most_states: draw only so many, the nearest to the start (at most, and by default, `MOST_STATES`). separator: join
    chains of states, with this between their labels; by default every state is drawn.
    """
    if separator is not None:
        graph = join_chains(graph, separator, kept=marks.touched)
    most = limit = min(most_states or MOST_STATES, MOST_STATES)
    hurried = False
    while True:
        drawn = nearest(graph, most)
        dot = graph_to_dot(drawn, marks, hurried)
        svg = layout(dot, _SECONDS)
        if svg is not None or not has_dot() or (hurried and most // 2 < _FEWEST_STATES):
            note = f"{drawn.note} More could not be laid out in time." if most < limit else drawn.note
            return Picture(dot, svg, note, drawn, details_of(drawn, marks))
        if hurried:
            most = min(most, len(drawn_states(drawn))) // 2
        hurried = True


def details_of(graph: Graph, marks: Marks = NO_MARKS) -> dict[str, Detail]:
    """The details of every state and arc, by its id in the drawing."""
    arriving: dict[int, list[GraphArc]] = {}
    leaving: dict[int, list[GraphArc]] = {}
    for arc in graph.arcs:
        arriving.setdefault(arc.target, []).append(arc)
        leaving.setdefault(arc.source, []).append(arc)
    given = prefix_states(graph)
    details: dict[str, Detail] = {}
    for state in drawn_states(graph):
        lines = [
            sentence
            for sentence, holds in (
                ("The start: every string begins here.", state == graph.start),
                ("Final: a match may end here.", state in graph.finals),
                ("Inside the prefix, which is given and not predicted.", state in given),
                ("Not a state of the automaton: it stands for all states that follow.", state in graph.unfinished),
            )
            if holds
        ]
        lines += _marked(marks.states.get(state), marks.state_notes.get(state))
        lines += _listed("in", arriving.get(state, []), lambda arc: f"{arc.label}  from {_called(arc.source, marks)}")
        lines += _listed("out", leaving.get(state, []), lambda arc: f"{arc.label}  to {_called(arc.target, marks)}")
        title = f"State {_called(state, marks)}"
        details[f"state-{state}"] = {"title": title, "label": _called(state, marks), "lines": lines}
    for place, arc in enumerate(graph.arcs):
        ends = f"from {_called(arc.source, marks)} to {_called(arc.target, marks)}"
        lines = [f"Reads: {arc.label}"] if arc.label else []
        if arc.count > 1:
            lines.append(f"Stands for {arc.count:,} parallel arcs of the automaton.")
        if arc.in_prefix:
            lines.append("Part of the prefix, which is given and not predicted.")
        lines += _marked(marks.arcs.get(arc_name(arc)), marks.arc_notes.get(arc_name(arc)))
        details[f"arc-{place}"] = {"title": f"Arc {ends}", "label": arc.label, "lines": lines}
    return details


def legend_of(marks: Marks) -> list[str]:
    """The marks that a picture uses, in words, the strongest first."""
    used = {*marks.states.values(), *marks.arcs.values()}
    return [STYLES[word].meaning for word in STYLES if word in used]


def _called(state: int, marks: Marks) -> str:
    name = marks.state_names.get(state)
    return str(state) if name is None else f"{state} ({name})"


def _marked(word: str | None, note: str | None) -> list[str]:
    meanings = [STYLES[word].meaning] if word is not None else []
    return [f"{sentence[0].upper()}{sentence[1:]}." for sentence in meanings] + ([note] if note else [])


def _listed(direction: str, arcs: list[GraphArc], describe: Callable[[GraphArc], str]) -> list[str]:
    if not arcs:
        return [f"No arc leads {direction}."]
    lines = [f"{counted(len(arcs), 'arc')} {direction}:", *(f"  {describe(arc)}" for arc in arcs[:_LISTED_ARCS])]
    return [*lines, *([f"  and {len(arcs) - _LISTED_ARCS:,} more"] if len(arcs) > _LISTED_ARCS else [])]
