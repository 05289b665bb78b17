"""What a lesson consists of: steps with two sentences and a picture, in which something is pointed out.

A step shows a `Graph` as every picture of an automaton is shown. What to look at is told by marks: a state or an arc is
"new", "cut", "current", ..., in the words that drawings know; a state may have a name in place of its number, and both
may have a note for whoever asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.pictures.graphs import Graph
from engine.record import Record

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
    """What a picture says of a state beyond its number."""

    state: int
    style: Style = ""
    name: str = ""
    note: str = ""


@dataclass(frozen=True)
class ArcMark(Record):
    """What a picture says of an arc, which is named by its ends and its label."""

    source: int
    target: int
    label: str
    style: Style = ""
    note: str = ""


@dataclass(frozen=True)
class Sizes(Record):
    """Of the automaton of a step, drawn in full or not; None where it is made only as it is explored.

    arcs are counted as drawn, parallel ones as one, up to the step of the tokens; there each token is an arc. strings,
    encodings: how many different ones it accepts, in words; "" where that is not the question.
    """

    states: int | None
    arcs: int | None
    strings: str = ""
    encodings: str = ""


@dataclass(frozen=True)
class Step(Record):
    """One operation, or one part of it.

    key: the same for the same step of the same pattern, such as "subset-3"; stage: a key of `STAGES`. happened: a
    sentence that says what was done; look: one that says what to look at. All text is plain, for the page to escape.
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
    """In how many ways the first `length` bytes of a text can be spelled in tokens, beside 2^(length - 1).

    That is how many there would be if every piece of the text were a token: each of the places between two bytes is a
    border or is not.
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
