"""A recorded search as something to step through: its automaton with marks, its tree, its frontier.

Pure functions of the rows that a replay wrote (`engine.studies.replay`); step 0 is how things stood before anything was
asked, and every later step is one round.

    step 4 of  The + ` (cat|dog)`      automaton   current: the states asked about    frontier: where open paths end
                                       tree        The 5.1 --␣c--> 12.8 --at--> 14.2   dashed: on offer, not yet taken
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from app.drawing import ArcName, Marks, arc_name
from engine.runs.preview import Graph, GraphArc
from engine.studies.replay import AUTOMATON, END, ROUND
from engine.studies.rows import rows_of

#: Between the tokens of a path.
BETWEEN = " · "
#: Of what a rule cuts at one node so many tokens stand in the tree.
_DRAWN_CUTS = 3
#: What is noted of one state.
_NOTED = 6

_WHY_OPEN = {
    "match": "a match, found and waiting to be shown",
    "child": "on offer: the best way on that has not been followed",
    "node": "followed, but the model has not been asked how it goes on",
}


@dataclass(frozen=True, eq=False)
class Replay:
    """The rows of a recording that has at least its automaton and its first round.

    rule: the decoding rule in words, "" for none. rounds: in order. end: how it ended, None while it goes on.
    """

    graph: Graph
    rule: str
    rounds: Sequence[Mapping[str, Any]]
    end: Mapping[str, Any] | None

    @property
    def last(self) -> int:
        """The last step."""
        return len(self.rounds) - 1

    @cached_property
    def made(self) -> dict[int, Mapping[str, Any]]:
        """What is known of each node of the tree, by its number."""
        return {item["node"]: item for entry in self.rounds for item in entry["made"]}

    def nodes_by(self, step: int) -> list[Mapping[str, Any]]:
        """The nodes that are in the tree after a step, parents before children."""
        return [item for entry in self.rounds[: step + 1] for item in entry["made"]]

    def shown_by(self, step: int) -> list[Mapping[str, Any]]:
        """The matches that are shown after a step, in their order."""
        return [item for entry in self.rounds[: step + 1] for item in entry["shown"]]

    def way_to(self, node: int) -> list[Mapping[str, Any]]:
        """The nodes on the way from the root, the root left out."""
        way = []
        while node in self.made:
            way.append(self.made[node])
            node = self.made[node]["parent"]
        return way[::-1]


def replay_of(rows: Sequence[Mapping[str, Any]]) -> Replay | None:
    """The recording that these rows tell; None before there is anything to see."""
    automata, rounds, ends = (rows_of(rows, kind) for kind in (AUTOMATON, ROUND, END))
    if not automata or not rounds:
        return None
    graph = Graph.from_json(automata[-1]["graph"])
    return Replay(graph, str(automata[-1]["rule"]), rounds, ends[-1] if ends else None)


def path_text(path: Sequence[str]) -> str:
    """A path as its tokens."""
    return BETWEEN.join(path) if path else "the start"


def automaton_marks(replay: Replay, step: int) -> Marks:
    """Where the search stands in the automaton of tokens: asked about now, open, and part of a match."""
    entry = replay.rounds[step]
    states: dict[int, str] = {}
    arcs: dict[ArcName, str] = {}
    notes: dict[int, list[str]] = {}
    arc_notes: dict[ArcName, str] = {}

    def mark(state: int | None, style: str, note: str) -> None:
        if state is not None:
            states[state] = style  # the strongest comes last
            notes.setdefault(state, []).append(note)

    for item in entry["frontier"]:
        mark(item["state"], "frontier", f"open: {path_text(item['path'])}, cost {item['cost']:.2f}")
    for item in replay.shown_by(step):
        mark(item["state"], "match", f"match {item['place']}: {path_text(item['path'])}, cost {item['cost']:.2f}")
    for item in entry["asked"]:
        mark(item["state"], "current", f"asked about: {path_text(item['path'])}")
        cut, partly = _cut_arcs(replay.graph, item)
        arcs, arc_notes = arcs | cut, arc_notes | partly
    for item in entry["shown"]:
        arcs |= _way_arcs(replay, item["node"], "match")
    if entry["asked"]:
        arcs |= _way_arcs(replay, entry["asked"][0]["node"], "current")
    state_notes = {state: "; ".join(lines[:_NOTED]) for state, lines in notes.items()}
    return Marks(states=states, arcs=arcs, state_notes=state_notes, arc_notes=arc_notes)


def _way_arcs(replay: Replay, node: int, style: str) -> dict[ArcName, str]:
    """The drawn arcs on the way to a node."""
    pairs = set()
    before: int | None = replay.graph.start
    for item in replay.way_to(node):
        pairs.add((before, item["state"]))
        before = item["state"]
    return {arc_name(arc): style for arc in replay.graph.arcs if (arc.source, arc.target) in pairs}


def _cut_arcs(graph: Graph, asked: Mapping[str, Any]) -> tuple[dict[ArcName, str], dict[ArcName, str]]:
    """The arcs out of a node's state all of whose tokens the rule cut there, and notes on those that lost some.

    Only where an arc's label names all its tokens, and the row all that came back: of an open class nobody can say.
    """
    marks: dict[ArcName, str] = {}
    notes: dict[ArcName, str] = {}
    back = {item["token"] for item in asked["children"]}
    if not asked["cut_count"] or asked["more"] or len(asked["children"]) < asked["children_count"]:
        return marks, notes
    for arc in graph.arcs:
        if arc.source != asked["state"] or arc.in_prefix:
            continue
        named = [arc.label] if arc.count == 1 else arc.label.split(", ")
        if not back:
            marks[arc_name(arc)] = "cut"
        elif len(named) == arc.count:
            lost = [token for token in named if token not in back]
            if len(lost) == len(named):
                marks[arc_name(arc)] = "cut"
            elif lost:
                notes[arc_name(arc)] = f"Cut here: {', '.join(lost)}."
    return marks, notes


def search_tree(replay: Replay, step: int) -> tuple[Graph, Marks]:
    """The tree as it stands after a step, with costs for names, and how its nodes are marked.

    Besides the nodes that were followed, it has the ways on that are on offer, and a few that the rule has just cut.
    """
    entry = replay.rounds[step]
    nodes = replay.nodes_by(step)
    arcs = [GraphArc(item["parent"], item["node"], item["token"], 1, item["in_prefix"]) for item in nodes]
    names = {0: "start"} | {item["node"]: _cost_text(item["cost"]) for item in nodes}
    states = {item["node"]: "cut" for item in nodes if item["cost"] is None}
    notes = {item["node"]: f"State {_state_text(item['state'])} of the automaton." for item in nodes}
    number = max([0, *(item["node"] for item in replay.made.values())]) + 1
    for item in entry["frontier"]:
        leaf = item["node"]
        if item["kind"] == "child":
            leaf, number = number, number + 1
            arcs.append(GraphArc(item["node"], leaf, item["token"], 1, False))
            names[leaf] = _cost_text(item["cost"])
            notes[leaf] = f"{item['behind']:,} more ways on are kept behind it."
        states[leaf] = "frontier"
    for asked in entry["asked"]:
        for cut in asked["cut"][:_DRAWN_CUTS]:
            arcs.append(GraphArc(asked["node"], number, cut["token"], 1, False))
            names[number], states[number] = f"rank {cut['rank']:,}", "cut"
            number += 1
    states |= {item["node"]: "match" for item in replay.shown_by(step)}
    states |= {item["node"]: "current" for item in entry["asked"]}
    matches = tuple(item["node"] for item in nodes if item["is_match"])
    graph = Graph(0, matches, number, tuple(arcs), (), len(names), len(arcs), "")
    return graph, Marks(states=states, state_names=names, state_notes=notes)


def frontier_table(replay: Replay, step: int) -> pd.DataFrame:
    """The cheapest open paths after a step, in the order in which the search will take them."""
    return pd.DataFrame(
        [
            {
                "Path": path_text(item["path"]),
                "Cost": item["cost"],
                "State": _state_text(item["state"]),
                "Why it is open": _WHY_OPEN[item["kind"]],
            }
            for item in replay.rounds[step]["frontier"]
        ],
        columns=["Path", "Cost", "State", "Why it is open"],
    )


def shown_table(replay: Replay, step: int) -> pd.DataFrame:
    """The matches that are shown after a step."""
    return pd.DataFrame(
        [
            {
                "Place": item["place"],
                "Text": item["text"],
                "Tokens": path_text(item["path"]),
                "Cost": item["cost"],
                "Canonical": item["is_canonical"],
            }
            for item in replay.shown_by(step)
        ],
        columns=["Place", "Text", "Tokens", "Cost", "Canonical"],
    )


def _cost_text(cost: float | None) -> str:
    return "cut" if cost is None else f"{cost:.2f}"


def _state_text(state: int | None) -> str:
    return "–" if state is None else str(state)
