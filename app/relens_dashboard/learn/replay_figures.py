"""The steps of a recorded search as pictures and tables: its automaton with marks, its tree, its frontier.

Step 0 is the search before its first forward, and every later step is one round.

    step 4 of  The + ` (cat|dog)`      automaton   current: the states expanded           frontier: ends of open paths
                                       tree        The 5.1 --␣c--> 12.8 --at--> 14.2      dashed: open, not yet taken
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pandas as pd

from relens.pictures.drawing import ArcName, Marks, arc_name
from relens.pictures.graphs import Graph, GraphArc
from relens.studies.replay_findings import ReplayFindings
from relens.studies.replay_rows import ExpandedPath

#: Between the tokens of a path.
BETWEEN = " · "
#: Most cut tokens of a node in the tree, and notes of a state.
_MOST_CUTS, _MOST_NOTES = 3, 6

_WHY_OPEN = {
    "match": "a match, waiting to be shown",
    "child": "the best next token of a path that is not followed yet",
    "node": "followed, but not expanded yet",
}


def path_text(path: Sequence[str]) -> str:
    """A path as its tokens."""
    return BETWEEN.join(path) if path else "the start"


def automaton_marks(findings: ReplayFindings, step: int) -> Marks:
    """The states of the automaton that are expanded now, open, or the end of a match, and the arcs on the way there."""
    entry = findings.rounds[step]
    states: dict[int, str] = {}
    arcs: dict[ArcName, str] = {}
    notes: dict[int, list[str]] = {}
    arc_notes: dict[ArcName, str] = {}

    def mark(state: int | None, style: str, note: str) -> None:
        if state is not None:
            states[state] = style  # the strongest comes last
            notes.setdefault(state, []).append(note)

    for path in entry.frontier:
        mark(path.state, "frontier", f"open: {path_text(path.path)}, cost {path.cost:.2f}")
    for match in findings.shown_by(step):
        mark(match.state, "match", f"match {match.place}: {path_text(match.path)}, cost {match.cost:.2f}")
    for expanded in entry.asked:
        mark(expanded.state, "current", f"expanded: {path_text(expanded.path)}")
        cut, partly = _cut_arcs(findings.graph, expanded)
        arcs, arc_notes = arcs | cut, arc_notes | partly
    for match in entry.shown:
        arcs |= _way_arcs(findings, match.node, "match")
    if entry.asked:
        arcs |= _way_arcs(findings, entry.asked[0].node, "current")
    state_notes = {state: "; ".join(lines[:_MOST_NOTES]) for state, lines in notes.items()}
    return Marks(states=states, arcs=arcs, state_notes=state_notes, arc_notes=arc_notes)


def _way_arcs(findings: ReplayFindings, node: int, style: str) -> dict[ArcName, str]:
    """The drawn arcs on the way to a node."""
    states = [findings.graph.start, *(item.state for item in findings.way_to(node))]
    pairs = set(pairwise(states))
    return {arc_name(arc): style for arc in findings.graph.arcs if (arc.source, arc.target) in pairs}


def _cut_arcs(graph: Graph, expanded: ExpandedPath) -> tuple[dict[ArcName, str], dict[ArcName, str]]:
    """The arcs out of the state of a path all of whose tokens the rule cut, and notes on those that lost some.

    Only where the label of an arc names all its tokens, and the row all children: for an open class it is not known.
    """
    marks: dict[ArcName, str] = {}
    notes: dict[ArcName, str] = {}
    children = {child.token for child in expanded.children}
    if not expanded.cut_count or expanded.more or len(expanded.children) < expanded.children_count:
        return marks, notes
    for arc in graph.arcs:
        if arc.source != expanded.state or arc.in_prefix:
            continue
        tokens = [arc.label] if arc.count == 1 else arc.label.split(", ")
        if not children:
            marks[arc_name(arc)] = "cut"
        elif len(tokens) == arc.count:
            cut = [token for token in tokens if token not in children]
            if len(cut) == len(tokens):
                marks[arc_name(arc)] = "cut"
            elif cut:
                notes[arc_name(arc)] = f"Cut here: {', '.join(cut)}."
    return marks, notes


def search_tree(findings: ReplayFindings, step: int) -> tuple[Graph, Marks]:
    """The tree after a step, with costs for names, and the marks of its nodes.

    Besides its nodes it has the open children, and a few tokens that the rule has just cut.
    """
    entry = findings.rounds[step]
    nodes = findings.nodes_by(step)
    arcs = [GraphArc(node.parent, node.node, node.token, 1, node.in_prefix) for node in nodes]
    names = {0: "start"} | {node.node: _cost_text(node.cost) for node in nodes}
    states = {node.node: "cut" for node in nodes if node.cost is None}
    notes = {node.node: f"State {_state_text(node.state)} of the automaton." for node in nodes}
    number = max([0, *findings.nodes]) + 1
    for path in entry.frontier:
        leaf = path.node
        if path.kind == "child":
            leaf, number = number, number + 1
            arcs.append(GraphArc(path.node, leaf, path.token or "", 1, False))
            names[leaf] = _cost_text(path.cost)
            notes[leaf] = f"{path.behind:,} further tokens wait behind it."
        states[leaf] = "frontier"
    for expanded in entry.asked:
        for cut in expanded.cut[:_MOST_CUTS]:
            arcs.append(GraphArc(expanded.node, number, cut.token, 1, False))
            names[number], states[number] = f"rank {cut.rank:,}", "cut"
            number += 1
    states |= {match.node: "match" for match in findings.shown_by(step)}
    states |= {expanded.node: "current" for expanded in entry.asked}
    matches = tuple(node.node for node in nodes if node.is_match)
    graph = Graph(0, matches, number, tuple(arcs), (), len(names), len(arcs), "")
    return graph, Marks(states=states, state_names=names, state_notes=notes)


def frontier_table(findings: ReplayFindings, step: int) -> pd.DataFrame:
    """The cheapest open paths after a step, in the order in which the search will take them."""
    paths = findings.rounds[step].frontier
    return pd.DataFrame(
        {
            "Path": [path_text(path.path) for path in paths],
            "Cost": [path.cost for path in paths],
            "State": [_state_text(path.state) for path in paths],
            "Why it is open": [_WHY_OPEN[path.kind] for path in paths],
        }
    )


def shown_table(findings: ReplayFindings, step: int) -> pd.DataFrame:
    """The matches shown after a step."""
    matches = findings.shown_by(step)
    return pd.DataFrame(
        {
            "Place": [match.place for match in matches],
            "Text": [match.text for match in matches],
            "Tokens": [path_text(match.path) for match in matches],
            "Cost": [match.cost for match in matches],
            "Canonical": [match.is_canonical for match in matches],
        }
    )


def _cost_text(cost: float | None) -> str:
    return "cut" if cost is None else f"{cost:.2f}"


def _state_text(state: int | None) -> str:
    return "–" if state is None else str(state)
