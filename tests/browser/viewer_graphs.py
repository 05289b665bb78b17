"""Graphs made for looking at the viewer."""

from __future__ import annotations

import random

from relens.pictures.drawing import STYLES, Marks
from relens.runs.preview import Graph, GraphArc


def small() -> tuple[Graph, Marks]:
    """`The (cat|dog)` with a mark of each kind somewhere, and labels that would like to be more than labels."""
    arcs = (
        GraphArc(0, 1, "The", 1, True),
        GraphArc(1, 2, "␣cat", 1, False),
        GraphArc(1, 3, "␣dog", 1, False),
        GraphArc(2, 4, "[a-z]", 26, False),
        GraphArc(3, 4, "<img src=x onerror=alert(1)>", 1, False),
        GraphArc(4, 5, "12 tokens: ␣a, ␣the", 12, False),
    )
    graph = Graph(0, (4,), 6, arcs, (5,), 6, 6, "")
    return graph, Marks(state_notes={2: "A note on <b>two</b>."}, arc_notes={(1, 2, "␣cat"): "A note on the cat."})


def marked() -> tuple[Graph, Marks]:
    """A state and an arc in each style."""
    words = list(STYLES)
    arcs = tuple(GraphArc(0, place + 1, word, 1, False) for place, word in enumerate(words))
    marks = Marks(
        states={place + 1: word for place, word in enumerate(words)},
        arcs={(0, place + 1, word): word for place, word in enumerate(words)},
        state_names={len(words): "a name"},
    )
    return Graph(0, (1, 2), len(words) + 1, arcs, (), len(words) + 1, len(words), ""), marks


def large(states: int) -> tuple[Graph, Marks]:
    """A random deterministic automaton in which every state is reached, mostly from one a little before it."""
    source = random.Random(states)
    arcs = [
        GraphArc(max(0, state - source.randint(1, 12)), state, f"[{'abcdefgh'[state % 8]}-z]", 2, False)
        for state in range(1, states)
    ]
    for number in range(states // 2):
        state = source.randrange(states)
        to = min(states - 1, max(0, state + source.randint(-6, 9)))
        arcs.append(GraphArc(state, to, f"␣word{number}", 1, False))
    return Graph(0, (states - 1, states // 2), states, tuple(arcs), (), states, len(arcs), ""), Marks()
