"""The tour on Start: five steps, from a first pattern to a finding on a screen.

    /?tour=3     the third step, as a link

Each step is a few sentences and a page that opens with an example filled in; `relens_dashboard.components.tour` draws
the picture.
"""

from __future__ import annotations

from dataclasses import dataclass

#: The parameter of the page's address that holds the step.
TOUR = "tour"

#: The first pattern of the live example; both of its automata are small.
PATTERN = "The (cat|dog)"

ASK, TYPE, AUTOMATA, RUN, GO_ON = "ask", "type", "automata", "run", "go on"


@dataclass(frozen=True)
class TourStep:
    """One step: its picture by name, its words, and the button that opens the page."""

    picture: str
    title: str
    words: str
    opens: str


STEPS = (
    TourStep(
        ASK,
        "Ask with a pattern",
        "A regular expression describes the form of an answer: The (cat|dog|door) is three strings. Relens turns it "
        "into an automaton of the model's own tokens, asks the model how likely each step is, and lists the answers "
        "in exact order, the likeliest first.",
        "Open this query",
    ),
    TourStep(
        TYPE,
        "Type, and read the meaning",
        "Each part of a pattern is explained as you type, its strings are counted, and a mistake is shown where it is. "
        "Try it here: add |door inside the brackets, or take a bracket away.",
        "Go on with it in the Workbench",
    ),
    TourStep(
        AUTOMATA,
        "See the automata",
        "Your pattern becomes an automaton that reads one character after the other, and then one that reads tokens, "
        "the pieces in which a model reads and writes. A match ends in a double circle. The second has more paths, "
        "since one string can be spelled in different tokens.",
        "See how they are made, step by step",
    ),
    TourStep(
        RUN,
        "Run it",
        "Press Run, or Ctrl and Enter. Matches appear as they are found, the likeliest first. Tick one to see its "
        "tokens, each with its probability. You can close the browser: the run goes on, and you find it under History.",
        "Open the birth date query",
    ),
    TourStep(
        GO_ON,
        "Learn, study, compare, present",
        "Follow the construction of an automaton step by step, carry out a study of the paper, compare runs side by "
        "side, or pin a figure onto a screen for people who do not program.",
        "Open the first lesson",
    ),
)


def step_number(address: str | None, reached: int | None, *, seen: bool) -> int | None:
    """The step to show, from 1; None where the tour is closed.

    address: the step in the page's address. reached: the last step of this session. seen: whether the tour was closed
    before, in this session of the browser; otherwise it begins at the first step.
    """
    if address is not None:
        number = int(address) if address.isdecimal() and len(address) < 4 else 1
        return min(max(number, 1), len(STEPS))
    if reached is not None:
        return min(max(reached, 1), len(STEPS))
    return None if seen else 1
