"""Cards of the gallery besides queries: lessons, studies, and pages of runs.

    How does a pattern become an automaton of tokens?   ->   /automata?lesson=The+((cat)|(dog))

A place is a page of the dashboard with the parameters that fill it in. A study's card has the study's own title and
question, so a new study needs no line here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from relens.studies.catalogue import study_class

LEARN, STUDIES, RUNS = "Learn", "Studies", "Runs"


@dataclass(frozen=True)
class Place:
    """One card: its words, and the page, by the last part of its address, with its parameters."""

    title: str
    question: str
    why: str
    topic: str
    page: str
    parameters: dict[str, str] = field(default_factory=dict)


AUTOMATA = Place(
    "From a pattern to an automaton",
    "How does a pattern become an automaton of the model's tokens?",
    "One operation a step, forwards and backwards: states, arcs, and why some encodings are cut.",
    LEARN,
    "automata",
    {"lesson": "The ((cat)|(dog))"},
)
PRESENT = Place(
    "Present a finding",
    "How do I show this to people who do not program?",
    "Pin any figure: it becomes a screen with large type and words for the speaker, and a file that opens anywhere.",
    RUNS,
    "present",
)

_LEARN = (
    AUTOMATA,
    Place(
        "One text, many encodings",
        "In how many ways can one word be spelled in tokens?",
        "All encodings of a text are counted and drawn, and the model says how likely it finds each.",
        LEARN,
        "tokens",
        {"tokens_text": "internationalization"},
    ),
    Place(
        "A search, step by step",
        "Why is the first match that is shown the likeliest there is?",
        "A real search is recorded and replayed: the frontier, its costs, and when a match may be shown.",
        LEARN,
        "replay",
    ),
    Place(
        "Random walks",
        "How must a walk choose its arcs so that all strings come equally often?",
        "Three ways to draw from a pattern, side by side, and where each puts the typing mistakes.",
        LEARN,
        "replay",
        {"shown": "Random walks"},
    ),
    Place(
        "The words of the field",
        "What do prefix, encoding, frontier or residual mean?",
        "Every term of these pages in one or two plain sentences, with an example.",
        LEARN,
        "glossary",
    ),
)
_RUNS = (
    Place(
        "Every run, found again",
        "What did I ask last week?",
        "All runs with search and filters: rename, note, pin, repeat, resume, or export one as a file.",
        RUNS,
        "history",
    ),
    Place(
        "Runs side by side",
        "What changes with another model, or another setting?",
        "Two or more runs: their settings, their answers in one table, and whether chance explains the difference.",
        RUNS,
        "compare",
    ),
    PRESENT,
)


def places(studies: Iterable[str]) -> tuple[Place, ...]:
    """All of them, those of the studies of these kinds among them."""
    return (*_LEARN, *map(_study, studies), *_RUNS)


def _study(kind: str) -> Place:
    study = study_class(kind)
    return Place(
        study.title,
        study.question,
        "A study of the paper, with presets, a verdict in plain words, figures, and a report as one file.",
        STUDIES,
        kind,
    )
