"""Rows of a brute-force study: its training, its model and lists, the parts that were enumerated, and the search.

    {"row": "part", "length": 3, "first": 0, "inputs": 35937, "outside": 0, ...}
    {"row": "hits", "length": 3, "list": "reversed", "whole": {}, "parts": {"fa": "m y", ...}}
    {"row": "search", "length": 3, "list": "normal", "existing": 37, "triggers": {"the": "t g e", ...}, ...}

Inputs and outputs have blanks between their symbols, targets have none. A length is that of inputs, in symbols.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from relens.errors import QueryError
from relens.paired import proportion
from relens.statistics import Estimate
from relens.studies.rows import StudyRow
from relens.triggers.model.characters import INPUT_SYMBOLS
from relens.triggers.model.training_rows import TrainingProgress


@dataclass(frozen=True)
class TrainingStep(TrainingProgress, StudyRow):
    """A report of the training."""

    row_name: ClassVar[str] = "step"


@dataclass(frozen=True)
class CharacterModel(StudyRow):
    """The trained model. words: of its text; symbols: of its inputs; nll: nats a symbol of held-out outputs."""

    row_name: ClassVar[str] = "model"
    text: str
    text_fingerprint: str
    words: int
    symbols: tuple[str, ...]
    pairs: int
    test_pairs: int
    context: str
    nll: float
    perplexity: float


@dataclass(frozen=True)
class ListLength(StudyRow):
    """A list of targets, and some of them."""

    row_name: ClassVar[str] = "list"
    list: str
    targets: int
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Part(StudyRow):
    """Inputs from number `first` on. outside: replies that are not on the list normal; different: distinct replies."""

    row_name: ClassVar[str] = "part"
    length: int
    first: int
    inputs: int
    outside: int
    different: int
    seconds: float
    cpu_seconds: float

    def __post_init__(self) -> None:
        if not 1 <= self.length <= INPUT_SYMBOLS:
            raise QueryError(f"An input has between 1 and {INPUT_SYMBOLS} symbols, not {self.length}.")


@dataclass(frozen=True)
class PartHits(StudyRow):
    """Targets of a list, each with the first input of the part. whole: equal to a reply; parts: within a reply."""

    row_name: ClassVar[str] = "hits"
    length: int
    list: str
    whole: dict[str, str]
    parts: dict[str, str]


@dataclass(frozen=True)
class OutsideReply(StudyRow):
    """A line of Table 7: a reply that is not on the list normal."""

    row_name: ClassVar[str] = "example"
    length: int
    input: str
    output: str


@dataclass(frozen=True)
class SearchOutcome(StudyRow):
    """A search for the targets of a list that inputs of this length reach.

    existing: their number. triggers: an input for each target that the search reached; missed: the others. candidates:
    inputs that it tried, for all targets; inputs: all there are.
    """

    row_name: ClassVar[str] = "search"
    length: int
    list: str
    existing: int
    triggers: dict[str, str]
    missed: tuple[str, ...]
    candidates: int
    inputs: int
    seconds: float

    @property
    def share(self) -> Estimate:
        """That of the existing targets which the search reached."""
        return proportion(len(self.triggers), self.existing)
