"""What a query will ask, shown while it is typed. (The records; the computation follows.)"""

from __future__ import annotations

from dataclasses import dataclass

from engine.query import Limits, Query, Record


@dataclass(frozen=True)
class GraphArc(Record):
    """One drawn arc: `count` parallel arcs of the automaton from `source` to `target` under one label.

    The label is plain text for people (a space is `␣`, a line break `\\n`), not escaped for any output format.
    in_prefix: the arc belongs to the query's prefix.
    """

    source: int
    target: int
    label: str
    count: int
    in_prefix: bool


@dataclass(frozen=True)
class Graph(Record):
    """An automaton to draw: states 0 to shown_states - 1, of which `finals` accept and `start` is where to begin.

    unfinished: states some of whose arcs are not drawn. total_states, total_arcs: of the automaton itself, None where
    they are made as they are reached. note: what is not shown and why, "" where everything is.
    """

    start: int
    finals: tuple[int, ...]
    shown_states: int
    arcs: tuple[GraphArc, ...]
    unfinished: tuple[int, ...]
    total_states: int | None
    total_arcs: int | None
    note: str


@dataclass(frozen=True)
class Explanation(Record):
    """What one part of a regular expression means: `text == source[start:end]`, nested `depth` deep."""

    start: int
    end: int
    depth: int
    text: str
    meaning: str


@dataclass(frozen=True)
class Preview(Record):
    """Everything the Workbench shows of a query before it runs.

    strings: how many strings the language has, in words; finite: whether that is a finite number. examples: a few of
    its strings, shortest first. notes: what the user should know of the encoding. seconds: to compute all of this.
    """

    prefix_parts: tuple[Explanation, ...]
    pattern_parts: tuple[Explanation, ...]
    strings: str
    finite: bool
    examples: tuple[str, ...]
    language_graph: Graph
    token_graph: Graph
    language_states: int
    language_arcs: int
    token_states: int | None
    token_arcs: int | None
    notes: tuple[str, ...]
    seconds: float


class Previewer:
    """Previews computed in limited child processes, so that a hostile pattern holds up nobody; safe for threads."""

    def __init__(self, pool_size: int = 4) -> None:
        raise NotImplementedError

    def preview(self, query: Query, model_name: str, limits: Limits | None = None) -> Preview:
        """The preview of `query` for the tokenizer of `model_name`. Raises `RelensError`s with their sentences."""
        raise NotImplementedError

    def close(self) -> None:
        """End the child processes."""
        raise NotImplementedError
