"""The parts of a lesson: steps with two sentences and a picture with marks.

    Step(title="The arcs of state 2", happened="State 2 stands for ...", graph, states=(StateMark(2, "current"), ...))

A mark says that a state or an arc is "new", "cut", "current", ..., the styles of drawings. A state may have a name in
place of its number, and both may have a note, which the viewer shows on a click.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from relens.pictures.graphs import Graph
from relens.record import Record

Style = Literal["", "new", "removed", "cut", "current", "frontier", "match", "canonical", "muted"]

#: The operations, in their order: key and name.
STAGES: dict[str, str] = {
    "tree": "Syntax tree",
    "nfa": "Thompson NFA",
    "subset": "Subset construction",
    "minimal": "Minimisation",
    "edits": "One edit",
    "bytes": "Bytes",
    "tokens": "Shortcut arcs",
    "canonical": "Canonical encodings",
}


@dataclass(frozen=True)
class LessonOptions(Record):
    """edits: all strings within one edit of the pattern too. text: the text whose encodings are counted, "" for one of
    the pattern's own."""

    edits: bool = False
    text: str = ""


@dataclass(frozen=True)
class StateMark(Record):
    """The style, name and note of a state."""

    state: int
    style: Style = ""
    name: str = ""
    note: str = ""


@dataclass(frozen=True)
class ArcMark(Record):
    """The style and note of an arc, which is named by its ends and its label."""

    source: int
    target: int
    label: str
    style: Style = ""
    note: str = ""


@dataclass(frozen=True)
class Sizes(Record):
    """The sizes of the automaton of a step, drawn in full or not; None where it is made only as it is explored.

    arcs: as drawn, parallel ones as one, up to the step of the tokens; there each token is an arc. strings, encodings:
    the number that it accepts, in words; "" where the step is about neither.
    """

    states: int | None
    arcs: int | None
    strings: str = ""
    encodings: str = ""


@dataclass(frozen=True)
class Step(Record):
    """One operation, or one part of it.

    key: the same for the same step of the same pattern, such as "subset-3"; stage: a key of `STAGES`. happened: a
    sentence on the operation; look: one on the picture. All text is plain, for the page to escape.
    """

    key: str
    stage: str
    title: str
    happened: str
    look: str
    graph: Graph
    sizes: Sizes
    states: tuple[StateMark, ...] = ()
    arcs: tuple[ArcMark, ...] = ()


@dataclass(frozen=True)
class Growth(Record):
    """The number of encodings of the first `length` bytes of a text; most: 2^(length - 1).

    That would be their number if every piece of the text were a token: each place between two bytes is a border or not.
    """

    text: str
    length: int
    encodings: int
    most: int


@dataclass(frozen=True)
class Lesson(Record):
    """All steps from an expression to the automaton of a model's tokens.

    note: why the lesson ends before the last operation, "" where it does not. growth: for each beginning of `text`.
    """

    pattern: str
    model: str
    options: LessonOptions
    steps: tuple[Step, ...]
    note: str
    text: str
    growth: tuple[Growth, ...]
